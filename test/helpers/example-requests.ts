import { isObject } from '../../src/contract/records.ts';

/** A request that an OpenAPI document gives as an example, as contract tools send it. */
export interface ExampleRequest {
  readonly id: string;
  readonly method: string;
  /** With the examples of its parameters. */
  readonly path: string;
  readonly body: unknown;
}

/** The example requests of a document, in its order. */
export function exampleRequests(document: object): ExampleRequest[] {
  return entriesOf(Object(document).paths).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => {
      const { operationId, parameters = [], requestBody } = Object(operation);
      const examples = new Map<string, unknown>(
        parameters.map(({ name, example }: { name: string; example?: unknown }) => [name, example]),
      );
      const inQuery = parameters.filter(
        (it: { in: string }) => it.in === 'query' && 'example' in it,
      );
      const pairs = inQuery.map(({ name }: { name: string }) => [name, String(examples.get(name))]);
      const query = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
      return {
        id: String(operationId),
        method: method.toUpperCase(),
        path: path.replaceAll(/\{(\w+)\}/g, (_all, name) => String(examples.get(name))) + query,
        body: Object(requestBody).content?.['application/json']?.example,
      };
    }),
  );
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}
