/** The part of Swagger UI that the reference uses; the package has no types of its own. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** React's, which is in the bundle. */
  type Element = object;
  type Component = (props: Readonly<Record<string, unknown>>) => Element;

  interface System {
    readonly React: {
      createElement(
        type: Component,
        props: Readonly<Record<string, unknown>> | null,
        ...children: readonly string[]
      ): Element;
    };
    readonly getComponent: (name: string, container?: boolean) => Component;
  }

  interface Plugin {
    readonly wrapComponents: Readonly<
      Record<string, (original: Component, system: System) => Component>
    >;
  }

  interface Interface {
    preauthorizeApiKey(scheme: string, key: string): void;
  }

  // biome-ignore lint/style/noDefaultExport: the package has one
  export default function SwaggerUI(options: {
    readonly domNode: HTMLElement;
    readonly spec: object;
    readonly plugins: readonly Plugin[];
    readonly onComplete: () => void;
    readonly [option: string]: unknown;
  }): Interface;
}
