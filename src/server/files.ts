import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, chown, rename, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TextReading } from '../core/problems.ts';
import { errorCode } from '../core/thrown.ts';

/** The folder of this package. Searched upwards, because bundling moves this file. */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The version in package.json. Read on demand, to keep the start fast. */
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

/** In bytes, for fixtures and the file of `--db`: a string of V8 holds at most 512 MiB. */
export const STORE_LIMIT = 500 * MEBIBYTE;

export const SETTINGS_LIMIT = 16 * MEBIBYTE;

/**
 * Opens a pipe without waiting for its other end. Node would wait in a thread, which even keeps the
 * process from exiting.
 */
const AT_ONCE = constants.O_NONBLOCK ?? 0;

/** Reads a regular file, or a pipe such as bash's `<(…)`, of at most `limit` bytes. */
export async function readText(path: string, limit: number): Promise<TextReading> {
  try {
    const stats = statSync(path);
    if (!stats.isFIFO()) return readTextSync(path, limit);
    const fd = openSync(path, constants.O_RDONLY | AT_ONCE);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of new Socket({ fd, readable: true, writable: false })) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) break;
    }
    return decode(Buffer.concat(chunks), limit);
  } catch (error) {
    return { ok: false, found: whyUnreadable(error) };
  }
}

/** Reads a regular file. Refuses a pipe, because waiting for one would block. */
export function readTextSync(path: string, limit: number): TextReading {
  let fd: number | undefined;
  try {
    const refusal = refuseFile(statSync(path), limit);
    if (refusal !== undefined) return refusal;
    fd = openSync(path, constants.O_RDONLY | AT_ONCE);
    return decode(readFileSync(fd), limit);
  } catch (error) {
    return { ok: false, found: whyUnreadable(error) };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

function refuseFile(stats: Stats, limit: number): TextReading | undefined {
  if (stats.isDirectory()) return { ok: false, found: 'a directory' };
  if (stats.isFIFO()) return { ok: false, found: 'a pipe' };
  if (!stats.isFile()) return { ok: false, found: 'a device or a socket' };
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

/** Writes to a file, a device or a pipe. Throws if nobody reads the pipe. */
export async function writeText(path: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | AT_ONCE;
  const fd = openSync(path, flags, 0o666);
  if (fstatSync(fd).isFIFO()) {
    const pipe = new Socket({ fd, readable: false, writable: true });
    await new Promise<void>((resolve, reject) => {
      pipe.once('error', reject).end(text, resolve);
    });
  } else {
    try {
      writeFileSync(fd, text);
    } finally {
      closeSync(fd);
    }
  }
}

/** On Windows, renaming fails while another program has the file open, such as a virus scanner. */
const RENAME_ATTEMPTS = process.platform === 'win32' ? 10 : 1;

/** Replaces a file, so that readers see the old or the new text, never a part. Keeps its mode. */
export async function replaceText(path: string, text: string): Promise<void> {
  const real = resolveLinks(path);
  const replaced = statSync(real, { throwIfNoEntry: false });
  if (replaced?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  const temporary = join(dirname(real), `.${basename(real)}.tmp`);
  // A leftover of a crash, or a link that somebody put there.
  await rm(temporary, { force: true });
  await writeFile(temporary, text, { flag: 'wx', mode: replaced?.mode });
  try {
    if (replaced !== undefined) {
      // Only root may change the owner.
      await chown(temporary, replaced.uid, replaced.gid).catch(() => {});
      await chmod(temporary, replaced.mode);
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        await rename(temporary, real);
        return;
      } catch (error) {
        if (attempt >= RENAME_ATTEMPTS) throw error;
        await sleep(100);
      }
    }
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A text that changes when the file is written, touched or replaced; empty if there is no file. */
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

/** Editors write in several steps, so a change counts once the next poll finds nothing new. */
const POLL_INTERVAL_MS = 50;

/** Polls: file system events miss mounted folders and replaced files. `onChange` never rejects. */
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
  try {
    return realpathSync(path);
  } catch (error) {
    // Another error, such as a loop of links.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const folder = dirname(resolve(path));
  const real = join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
  const isLink = lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolveLinks(resolve(dirname(real), readlinkSync(real))) : real;
}
