import { isAbsolute, relative, resolve } from 'node:path';
import { DEFAULT_URL } from '../contract/default-url.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { serviceOpenApi } from '../contract/service-openapi.ts';
import { packageVersion } from '../package.ts';
import type { ReportData } from './data.ts';

/** The OpenAPI document, as `petstore-mock openapi` prints it. */
export function documentText(): string {
  const document = serviceOpenApi({ serverUrl: DEFAULT_URL, version: packageVersion() });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** The path of the document: next to the lcov file, for viewers that show its lines. */
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
    const own = documented.filter(({ operation }) => operation === id);
    return { id, line: lineOf(id), count: own.reduce((sum, { count }) => sum + count, 0) };
  });
  const lines = documented
    .map((it) => ({ ...it, line: lineOf(it.operation, it.status) }))
    .sort((a, b) => a.line - b.line);
  const branches = lines.flatMap(({ operation, status, line, count }) =>
    cases
      .filter((it) => it.operation === operation && it.status === status)
      .map((it, index) => `BRDA:${line},0,${index},${count > 0 ? it.count : '-'}`),
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

/** The records with the number of entries found, and of those hit. */
function totals(name: string, all: readonly { readonly count: number }[]): string[] {
  return [`${name}F:${all.length}`, `${name}H:${all.filter(({ count }) => count > 0).length}`];
}

/** A path relative to the working directory, which is where viewers are run. */
function sourceName(path: string): string {
  const name = relative(process.cwd(), path);
  return name.startsWith('..') || isAbsolute(name) ? resolve(path) : name;
}

/** Finds the line of an operation, or of one of its replies, counted from 1. */
function lineFinder(): (operation: OperationId, status?: number) => number {
  const lines = documentText().split('\n');
  return (operation, status) => {
    const { method, path } = operationShape(operation);
    const members = [path, method.toLowerCase(), ...(status === undefined ? [] : [`${status}`])];
    const indents = [4, 6, 10];
    return members.reduce((line, name, depth) => {
      const text = `${' '.repeat(indents[depth] ?? 0)}${JSON.stringify(name)}: {`;
      const index = lines.indexOf(text, line);
      if (index < 0) throw new Error(`The document has no line ${text}.`);
      return index + 1;
    }, 0);
  };
}
