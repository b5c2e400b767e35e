declare module 'newman' {
  interface Execution {
    readonly item: { readonly name: string };
    readonly assertions?: readonly { readonly assertion: string; readonly error?: Error }[];
  }

  export interface Summary {
    readonly run: {
      readonly executions: readonly Execution[];
      readonly failures: readonly { readonly error: Error }[];
    };
  }

  export function run(
    options: { readonly collection: object },
    done: (error: Error | null, summary: Summary) => void,
  ): void;
}
