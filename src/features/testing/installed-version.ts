import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The version of a package that a module would import; undefined if there is none. */
export function installedVersion(name: string, from: string = import.meta.url): string | undefined {
  try {
    const { version }: { version?: string } = createRequire(from)(`${name}/package.json`);
    return version;
  } catch {
    return undefined;
  }
}

/** The folder of the tests. Jest is resolved from here, as this package does not depend on it. */
export const PROJECT = pathToFileURL(`${process.cwd()}/tests`).href;
