import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../../src/core/control/endpoints.ts';
import { createControlOpenApi } from '../../../../src/features/openapi/control-openapi.ts';
import { documentedOnly } from '../../../../src/features/openapi/documented-openapi.ts';
import { createServiceOpenApi } from '../../../../src/features/openapi/service-openapi.ts';
import { packageRoot } from '../../../../src/server/files.ts';
import { temporaryFolder } from '../../../helpers/folder.ts';
import { toolFile } from '../../../helpers/tools.ts';

const folder = temporaryFolder();

const version = '0.0.0';
const service = createServiceOpenApi({ serverUrl: 'http://127.0.0.1:4010/v1', version });
const DOCUMENTS = {
  'the document of the service': service,
  'the document without what is assumed': documentedOnly(service),
  'the document of the control API': createControlOpenApi(ENDPOINTS, {
    serverUrl: 'http://127.0.0.1:4010/__mock',
    version,
  }),
};

const REDOCLY = toolFile('@redocly/cli/bin/cli.js');

/** What Redocly finds in a file, warnings too: each rule that the document breaks. */
function lint(file: string): Promise<unknown[]> {
  const config = join(packageRoot, 'test/features/openapi/documents/redocly.yaml');
  const args = [REDOCLY, 'lint', file, '--format', 'json', '--config', config];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (_failed, stdout, stderr) => {
      try {
        const { problems } = JSON.parse(stdout);
        resolve(problems.map(({ ruleId }: { readonly ruleId: string }) => ruleId));
      } catch (cause) {
        reject(new Error(`The linter did not report: ${stdout}${stderr}`, { cause }));
      }
    });
  });
}

test.each(Object.entries(DOCUMENTS))(
  'Redocly finds no error and no warning in %s',
  async (what, document) => {
    const file = join(folder, `${what}.json`);
    writeFileSync(file, JSON.stringify(document));
    expect(await lint(file)).toEqual([]);
  },
);
