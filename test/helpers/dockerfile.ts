import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package.ts';

/** A file or folder that the Dockerfile copies. */
interface Copied {
  /** The name of the stage that it is copied to; undefined for the one that runs. */
  readonly stage: string | undefined;
  /** The stage that it is copied from; undefined for the build context. */
  readonly from: string | undefined;
  readonly path: string;
}

const read = (file: string) => readFileSync(join(packageRoot, file), 'utf8');

/** The instructions of the Dockerfile's last stage by name, and what each stage copies. */
export function dockerfile() {
  const lines = read('Dockerfile').replaceAll(/\\\n/g, ' ').split('\n');
  const copied: Copied[] = [];
  let stage: string | undefined;
  let last: { readonly name: string; readonly rest: string }[] = [];
  for (const line of lines) {
    const [, name, rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    if (name === 'FROM') {
      [, stage] = / AS (\w+)$/.exec(rest) ?? [];
      last = [];
    } else last.push({ name, rest });
    if (name !== 'COPY') continue;
    const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? [];
    for (const path of paths.split(' ').slice(0, -1)) copied.push({ stage, from, path });
  }
  const runtime = (name: string): readonly string[] =>
    last.filter((it) => it.name === name).map(({ rest }) => rest);
  return { copied, runtime };
}

/** What .dockerignore lets into the build context. */
export function contextFiles(): readonly string[] {
  const [first, ...others] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*') throw new Error('.dockerignore does not start by keeping everything out.');
  return others.map((line) => line.replace(/^!/, ''));
}
