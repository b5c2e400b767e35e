import { readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryParseJson } from '../../core/contract/json.ts';
import { isObject } from '../../core/contract/records.ts';
import { errorCode } from '../node-errors.ts';

/** Milliseconds without a heartbeat after which the lock of a server on another machine is stale. */
const STALE_AFTER_MS = 10_000;

/** @returns what releases the lock; or its holder in words, if another server has it */
export async function lockFile(path: string): Promise<(() => void) | string> {
  for (;;) {
    try {
      const since = new Date().toISOString();
      const holder = { pid: process.pid, host: hostname(), namespace: pidNamespace(), since };
      writeFileSync(path, JSON.stringify(holder), { flag: 'wx' });
      return holdLock(path);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const holder = await findHolder(path);
    if (holder !== undefined) return holder;
    rmSync(path, { force: true });
  }
}

function holdLock(path: string): () => void {
  const beat = (): void => {
    try {
      utimesSync(path, new Date(), new Date());
    } catch {
      // Somebody has removed it. The file itself is complete all the same.
    }
  };
  const timer = setInterval(beat, STALE_AFTER_MS / 4).unref();
  let isHeld = true;
  const release = (): void => {
    clearInterval(timer);
    process.off('exit', release);
    // Another server may have it by now.
    if (isHeld) rmSync(path, { force: true });
    isHeld = false;
  };
  process.on('exit', release);
  return release;
}

async function findHolder(path: string): Promise<string | undefined> {
  const { text, beat } = readLock(path);
  const holder: unknown = tryParseJson(text);
  const { pid, host, namespace, since } = isObject(holder) ? holder : {};
  const words = `process ${pid} on ${host}, since ${since}`;
  const isHere = host === hostname() && namespace === pidNamespace();
  if (isHere && pid !== process.pid) return isRunning(Number(pid)) ? words : undefined;
  // A container that was killed is a machine of another name when it starts again.
  const until = performance.now() + STALE_AFTER_MS - (Date.now() - beat);
  while (performance.now() < until) {
    await sleep(100);
    if (readLock(path).beat !== beat) return words;
  }
  return undefined;
}

/** Containers on one machine do not see each other's processes. Empty where there are none. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function readLock(path: string): { readonly text: string; readonly beat: number } {
  try {
    return { text: readFileSync(path, 'utf8'), beat: statSync(path).mtimeMs };
  } catch {
    return { text: '', beat: 0 };
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
