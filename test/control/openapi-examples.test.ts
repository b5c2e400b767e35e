import { describe, expect, test } from 'vitest';
import { controlOpenApi } from '../../src/control/control-openapi.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { serviceOpenApi } from '../../src/openapi/service-openapi.ts';
import { startServer } from '../../src/server.ts';
import { type ExampleRequest, exampleRequests } from '../helpers/example-requests.ts';

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
