import { isUtf8 } from 'node:buffer';
import {
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TextReading } from '../core/words.ts';
import { errorCode } from './node-errors.ts';

/** The folder of this package, found by walking up, since bundling moves files. */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The version in package.json, read at the first call to keep the start fast. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const version: unknown = Object(manifest).version;
  if (typeof version !== 'string') throw new Error(`package.json in ${packageRoot} has no version`);
  return version;
}

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('There is no package.json above this program.');
  return findRoot(parent);
}

const MEBIBYTE = 1024 ** 2;

/** Bytes of a fixture or a `--db` file: V8 holds at most 512 MiB in a string. */
export const STORE_LIMIT = 500 * MEBIBYTE;

export const SETTINGS_LIMIT = 16 * MEBIBYTE;

/** Reads a regular file, or a pipe such as bash's `<(…)`, of at most `limit` bytes. */
export async function readText(path: string, limit: number): Promise<TextReading> {
  try {
    return refuseFile(await stat(path), limit) ?? decode(await readFile(path), limit);
  } catch (error) {
    return { ok: false, found: whyUnreadable(error) };
  }
}

export function readTextSync(path: string, limit: number): TextReading {
  try {
    return refuseFile(statSync(path), limit) ?? decode(readFileSync(path), limit);
  } catch (error) {
    return { ok: false, found: whyUnreadable(error) };
  }
}

export function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

function refuseFile(stats: Stats, limit: number): TextReading | undefined {
  if (stats.isDirectory()) return { ok: false, found: 'a directory' };
  if (!stats.isFile() && !stats.isFIFO()) return { ok: false, found: 'a device or a socket' };
  return stats.size > limit ? { ok: false, found: describeLimit(limit) } : undefined;
}

function decode(bytes: Buffer, limit: number): TextReading {
  if (bytes.length > limit) return { ok: false, found: describeLimit(limit) };
  if (!isUtf8(bytes)) return { ok: false, found: 'bytes that are not UTF-8' };
  return { ok: true, text: bytes.toString() };
}

function describeLimit(limit: number): string {
  return `more than ${limit / MEBIBYTE} MiB`;
}

function whyUnreadable(error: unknown): string {
  const code = errorCode(error) ?? String(error);
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
  return isMissing ? 'nothing' : `something that cannot be read (${code})`;
}

/** Changes whenever a file is written, touched or replaced; empty if there is none. */
export function fingerprint(path: string): string {
  try {
    const stats = statSync(path, { bigint: true });
    return `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
  } catch {
    return '';
  }
}

export interface FileWatch {
  follow(paths: readonly string[]): void;
  close(): void;
}

/** A change is reported once a further poll finds nothing new: editors write in several steps. */
const POLL_INTERVAL_MS = 50;

/** Polls, since events of the system miss mounted folders and replaced files. `onChange` must not reject. */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void | Promise<void>,
): FileWatch {
  let fingerprints = new Map(paths.map((path) => [path, fingerprint(path)]));
  let changed = false;
  let busy = false;

  const poll = async (): Promise<void> => {
    if (busy) return;
    const before = fingerprints;
    fingerprints = new Map([...before.keys()].map((path) => [path, fingerprint(path)]));
    if ([...fingerprints].some(([path, found]) => before.get(path) !== found)) changed = true;
    else if (changed) {
      changed = false;
      busy = true;
      await onChange();
      busy = false;
    }
  };
  const timer = setInterval(poll, POLL_INTERVAL_MS).unref();
  return {
    follow: (wanted) => {
      fingerprints = new Map(
        wanted.map((path) => [path, fingerprints.get(path) ?? fingerprint(path)]),
      );
    },
    close: () => clearInterval(timer),
  };
}

/** The path of a file with links resolved, even if it does not exist yet. */
export function resolveLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  const real = join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
  const isLink = lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolveLinks(resolve(dirname(real), readlinkSync(real))) : real;
}
