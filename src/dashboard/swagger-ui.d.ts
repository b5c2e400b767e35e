/** The part of Swagger UI that the reference uses; the package has no types of its own. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  type Props = Readonly<Record<string, unknown>>;
  export type Component = (props: Props) => object;
  export interface System {
    /** It is in the bundle. */
    readonly React: { createElement(type: Component, props: Props, child?: string): object };
    readonly getComponent: (name: string, container?: boolean) => Component;
  }
  // biome-ignore lint/style/noDefaultExport: the package has one
  export default function SwaggerUI(options: object): {
    preauthorizeApiKey(scheme: string, key: string): void;
  };
}
