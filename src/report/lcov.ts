import { isAbsolute, relative, resolve } from 'node:path';
import { DEFAULT_URL } from '../contract/default-url.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { serviceOpenApi } from '../contract/service-openapi.ts';
import { packageVersion } from '../package.ts';
import type { ReportData } from './data.ts';

/** What `petstore-mock openapi` prints. */
export function documentText(): string {
  const document = serviceOpenApi({ serverUrl: DEFAULT_URL, version: packageVersion() });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** The document that an lcov file is about stands beside it, since a viewer shows its lines. */
export function documentBeside(file: string): string {
  return `${file.replace(/\.info$/, '')}.openapi.json`;
}

/**
 * lcov over the service's OpenAPI document: a function for each operation, a line for each
 * documented reply, and a branch for each case of it.
 */
export function renderLcov({ coverage: { documented, cases } }: ReportData, file: string): string {
  const lineOf = lineFinder();
  const functions = OPERATION_IDS.map((id) => {
    const counts = documented.filter(({ operation }) => operation === id);
    return { id, line: lineOf(id), count: counts.reduce((sum, { count }) => sum + count, 0) };
  });
  const lines = documented
    .map(({ operation, status, count }) => ({
      line: lineOf(operation, status),
      count,
      cases: cases.filter((it) => it.operation === operation && it.status === status),
    }))
    .sort((a, b) => a.line - b.line);
  const branches = lines.flatMap(({ line, count, cases: all }) =>
    all.map((it, index) => `BRDA:${line},0,${index},${count > 0 ? it.count : '-'}`),
  );
  return [
    'TN:petstore_mock',
    `SF:${sourceName(documentBeside(file))}`,
    ...functions.map(({ id, line }) => `FN:${line},${id}`),
    ...functions.map(({ id, count }) => `FNDA:${count},${id}`),
    ...totals('FN', functions),
    ...branches,
    ...totals('BR', cases),
    ...lines.map(({ line, count }) => `DA:${line},${count}`),
    ...totals('L', lines),
    'end_of_record',
    '',
  ].join('\n');
}

/** The records that tell how much was found and how much of it hit. */
function totals(name: string, all: readonly { readonly count: number }[]): string[] {
  return [`${name}F:${all.length}`, `${name}H:${all.filter(({ count }) => count > 0).length}`];
}

/** From where viewers are run, as other tools name sources: the folder that the command runs in. */
function sourceName(path: string): string {
  const name = relative(process.cwd(), path);
  return name.startsWith('..') || isAbsolute(name) ? resolve(path) : name;
}

/** Finds the line of an operation, or of one of its replies, counted from 1. */
function lineFinder(): (operation: OperationId, status?: number) => number {
  const lines = documentText().split('\n');
  const after = (start: number, text: string): number => {
    const index = lines.indexOf(text, start);
    if (index < 0) throw new Error(`The document has no line ${text}.`);
    return index;
  };
  return (operation, status) => {
    const { method, path } = operationShape(operation);
    const atPath = after(0, `    ${JSON.stringify(path)}: {`);
    const atMethod = after(atPath, `      "${method.toLowerCase()}": {`);
    return 1 + (status === undefined ? atMethod : after(atMethod, `          "${status}": {`));
  };
}
