import { serviceOpenApi } from '../contract/openapi.ts';
import { operationShape } from '../contract/operations.ts';
import { packageVersion } from '../package.ts';
import type { ReportData } from './data.ts';

/** The lines that `petstore-mock openapi` prints. */
function documentLines(): string[] {
  const serverUrl = 'http://127.0.0.1:4010/v1';
  const document = serviceOpenApi({ serverUrl, version: packageVersion() });
  return JSON.stringify(document, undefined, 2).split('\n');
}

/** lcov over the service's OpenAPI document: a line for each documented reply. */
export function renderLcov({ coverage: { documented } }: ReportData): string {
  const lines = documentLines();
  const from = (start: number, text: string): number =>
    lines.findIndex((line, index) => index > start && line.startsWith(text));
  const counted = documented.map(({ operation, status, count }) => {
    const { method, path } = operationShape(operation);
    const atPath = from(-1, `    ${JSON.stringify(path)}: {`);
    const atMethod = from(atPath, `      "${method.toLowerCase()}": {`);
    return { line: from(atMethod, `          "${status}": {`) + 1, count };
  });
  const hit = counted.filter(({ count }) => count > 0).length;
  return [
    'TN:petstore-mock',
    'SF:openapi.json',
    ...counted.sort((a, b) => a.line - b.line).map(({ line, count }) => `DA:${line},${count}`),
    `LF:${counted.length}`,
    `LH:${hit}`,
    'end_of_record',
    '',
  ].join('\n');
}
