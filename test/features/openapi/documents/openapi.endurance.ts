import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../../src/core/control/endpoints.ts';
import { isObject } from '../../../../src/core/json.ts';
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

const ruleset = (name: string) => join(packageRoot, 'test/features/openapi/documents', name);

const LINTERS = {
  Redocly: ['@redocly/cli/bin/cli.js', '--config', ruleset('redocly.yaml')],
  Spectral: [
    '@stoplight/spectral-cli/dist/index.js',
    ...['--quiet', '--ruleset', ruleset('spectral.yaml')],
  ],
};

/** What a linter finds in a file, warnings too: each rule that the document breaks. */
function lint([program = '', ...flags]: readonly string[], file: string): Promise<unknown[]> {
  const args = [toolFile(program), 'lint', file, '--format', 'json', ...flags];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (_failed, stdout, stderr) => {
      try {
        const report: unknown = JSON.parse(stdout);
        const found = isObject(report) ? report.problems : report;
        if (!Array.isArray(found)) throw new TypeError('This is no report.');
        resolve(found.map((problem) => problem.ruleId ?? problem.code));
      } catch (cause) {
        reject(new Error(`The linter did not report: ${stdout}${stderr}`, { cause }));
      }
    });
  });
}

test.each(
  Object.entries(LINTERS).flatMap(([name, linter]) =>
    Object.entries(DOCUMENTS).map(([what, document]) => ({ name, linter, what, document })),
  ),
)('$name finds no error and no warning in $what', async ({ name, linter, what, document }) => {
  const file = join(folder, `${name} ${what}.json`);
  writeFileSync(file, JSON.stringify(document));
  expect(await lint(linter, file)).toEqual([]);
});
