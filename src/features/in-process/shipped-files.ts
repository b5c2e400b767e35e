/// <reference types="vite/types/importMeta.d.ts" />

/** The texts of this package's files, which the build puts into the bundle. */
const TEXTS: Readonly<Record<string, string>> = import.meta.glob<string>(
  ['../../../fixtures/default.json', '../../../scenarios/*.yaml'],
  { query: '?raw', import: 'default', eager: true },
);

export function shippedText(file: string): string {
  const text = TEXTS[`../../../${file}`];
  if (text === undefined) throw new Error(`${file} is not in the bundle`);
  return text;
}

const VERSIONS = import.meta.glob<string>('../../../package.json', {
  import: 'version',
  eager: true,
});

export const bundledVersion = Object.values(VERSIONS).join();
