import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The version of a package that a module finds; undefined if it finds none. */
export function installedVersion(name: string, from: string = import.meta.url): string | undefined {
  try {
    const { version }: { version?: string } = createRequire(from)(`${name}/package.json`);
    return version;
  } catch {
    return undefined;
  }
}

/** Where the tests run. Jest is looked for from here, since the package itself does not import it. */
export const PROJECT = pathToFileURL(`${process.cwd()}/tests`).href;
