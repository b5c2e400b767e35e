/// <reference types="vite/types/importMeta.d.ts" />

import type { AddedHandlers } from '../../core/control/added-handlers.ts';

/*
 * Scenarios, fixtures and version, which the build puts into the bundle.
 */

const SCENARIOS: Readonly<Record<string, string>> = import.meta.glob<string>(
  '../../../scenarios/*.yaml',
  { query: '?raw', import: 'default', eager: true },
);

const FIXTURES: Readonly<Record<string, object>> = import.meta.glob<object>(
  '../../../fixtures/*.json',
  { import: 'default', eager: true },
);

/** Handlers that other features can add anywhere. Each such feature has a file of this name. */
const ADDED = import.meta.glob<Readonly<Record<string, AddedHandlers>>>('../*/added-handlers.ts', {
  eager: true,
});

export const BUNDLED_HANDLERS = Object.values(ADDED).flatMap(Object.values<AddedHandlers>);

const VERSIONS = import.meta.glob<string>('../../../package.json', {
  import: 'version',
  eager: true,
});

export const bundledVersion = Object.values(VERSIONS).join();

export function shippedText(file: string): string {
  const path = `../../../${file}`;
  const text = SCENARIOS[path] ?? JSON.stringify(FIXTURES[path]);
  if (text === undefined) throw new Error(`${file} is not in the bundle`);
  return text;
}
