import { describe, expect, test } from 'vitest';
import { isObject } from '../../src/contract/records.ts';
import { controlOpenApi } from '../../src/control/control-openapi.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { serviceOpenApi } from '../../src/openapi/service-openapi.ts';
import { startServer } from '../../src/server.ts';

/** A request that an OpenAPI document gives as an example, as contract tools send it. */
interface ExampleRequest {
  readonly id: string;
  readonly method: string;
  /** With the examples of its parameters. */
  readonly path: string;
  readonly body: unknown;
}

const SERVICE = exampleRequests(serviceOpenApi({ serverUrl: '/v1', version: '0.0.0' }));

// A server of plain HTTP has no certificate.
const CONTROL = exampleRequests(
  controlOpenApi(ENDPOINTS, { serverUrl: '/__mock', version: '0.0.0' }),
).filter(({ id }) => id !== 'getCertificate');

/** What must be there before some requests of the control API. */
const BEFORE: Readonly<Record<string, string>> = {
  createInventoryEntry: 'createAnimal',
  restoreSnapshot: 'createSnapshot',
  deleteSnapshot: 'createSnapshot',
  deleteSandbox: 'createSandbox',
  deleteScenario: 'saveScenario',
};

type Send = (base: string, example: ExampleRequest) => Promise<number>;

/** Runs requests against a new server, and returns the status of each. */
async function onNewServer<T>(run: (send: Send) => Promise<T>): Promise<T> {
  const { url, close } = await startServer({ port: 0 });
  const send: Send = async (base, { method, path, body }) => {
    const reply = await fetch(new URL(base + path, url), {
      method,
      headers: {
        Authorization: 'Bearer demo-key',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await reply.body?.cancel();
    return reply.status;
  };
  return run(send).finally(close);
}

/** Sends requests in order, and returns those that do not succeed. */
async function failures(send: Send, base: string, examples: readonly ExampleRequest[]) {
  const failed: string[] = [];
  for (const example of examples) {
    const status = await send(base, example);
    if (status < 200 || status > 299) failed.push(`${example.id} ${status}`);
  }
  return failed;
}

describe('every example request', () => {
  test.each(SERVICE)('$id of the service succeeds on a new server', async (example) => {
    expect(await onNewServer((send) => failures(send, '/v1', [example]))).toEqual([]);
  });

  test('of the service succeeds in the order of the document', async () => {
    expect(await onNewServer((send) => failures(send, '/v1', SERVICE))).toEqual([]);
  });

  test.each(CONTROL)('$id of the control API succeeds on a new server', async (example) => {
    const first = CONTROL.filter(({ id }) => id === BEFORE[example.id]);
    const failed = await onNewServer(async (send) => {
      // `getRequest` reads it.
      await failures(send, '/v1', SERVICE.slice(0, 1));
      return failures(send, '/__mock', [...first, example]);
    });
    expect(failed).toEqual([]);
  });

  test('of the control API succeeds in the order of the document', async () => {
    // The journal is empty again by the time that it is read.
    const all = CONTROL.filter(({ id }) => id !== 'getRequest');
    expect(await onNewServer((send) => failures(send, '/__mock', all))).toEqual([]);
  });
});

/** The example requests of a document, in its order. */
function exampleRequests(document: object): ExampleRequest[] {
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
