import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isObject } from '../../src/contract/records.ts';
import { toolFile } from './tools.ts';

const RULESETS = new URL('../openapi/', import.meta.url);

const LINTERS = {
  Redocly: (file: string) => [
    toolFile('@redocly/cli/bin/cli.js'),
    ...['lint', file, '--format', 'json', '--config', ruleset('redocly.yaml')],
  ],
  Spectral: (file: string) => [
    toolFile('@stoplight/spectral-cli/dist/index.js'),
    ...['lint', file, '--format', 'json', '--quiet', '--ruleset', ruleset('spectral.yaml')],
  ],
};

function ruleset(name: string): string {
  return fileURLToPath(new URL(name, RULESETS));
}

/** What a linter finds in a file, warnings too: each rule that the document breaks. */
export function lint(linter: keyof typeof LINTERS, file: string): Promise<unknown[]> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, LINTERS[linter](file), { env }, (_failed, stdout, stderr) => {
      try {
        const report: unknown = JSON.parse(stdout);
        const found = isObject(report) ? report.problems : report;
        if (!Array.isArray(found)) throw new TypeError('This is no report.');
        resolve(found.map((problem) => problem.ruleId ?? problem.code));
      } catch (cause) {
        reject(new Error(`${linter} did not report: ${stdout}${stderr}`, { cause }));
      }
    });
  });
}
