import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { controlOpenApi } from '../../src/control/control-openapi.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { documentedOnly } from '../../src/openapi/documented-openapi.ts';
import { serviceOpenApi } from '../../src/openapi/service-openapi.ts';
import { lint } from '../helpers/openapi-linters.ts';

const version = '0.0.0';
const service = serviceOpenApi({ serverUrl: 'http://127.0.0.1:4010/v1', version });
const control = controlOpenApi(ENDPOINTS, {
  serverUrl: 'http://127.0.0.1:4010/__mock',
  version,
});

describe.each(['Redocly', 'Spectral'] as const)('%s', (linter) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'petstore-mock-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function problemsIn(document: object): Promise<unknown[]> {
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    return lint(linter, file);
  }

  test('finds no error and no warning in the document of the service', async () => {
    expect(await problemsIn(service)).toEqual([]);
  });

  test('finds no error and no warning in the document without what is assumed', async () => {
    expect(await problemsIn(documentedOnly(service))).toEqual([]);
  });

  test('finds no error and no warning in the document of the control API', async () => {
    expect(await problemsIn(control)).toEqual([]);
  });
});
