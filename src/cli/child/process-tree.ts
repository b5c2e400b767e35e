import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Begins with Z where the process has ended, and only its parent has not taken notice. */
  readonly state: string;
}

/**
 * The processes that a process has started, and those that these have, as of now.
 *
 * @param mark a text that only they have in their environment. It finds those that have left, whose
 *   parent has ended; the system may not tell.
 */
export function startedBy(pid: number, mark: string): ProcessEntry[] {
  const all = processes();
  const found = all.filter((it) => it.parent === pid);
  // What is added on the way is looked at too.
  for (const parent of found) found.push(...all.filter((it) => it.parent === parent.pid));
  const known = new Set([process.pid, pid, ...found.map((it) => it.pid)]);
  const left = all.filter((it) => !known.has(it.pid) && hasInEnvironment(it.pid, mark));
  return [...found, ...left];
}

/** Whether any of the processes that are meant still runs; also where the system does not tell. */
export function anyRuns(isMeant: (entry: ProcessEntry) => boolean): boolean {
  const all = processes();
  return all.length === 0 || all.some((it) => isMeant(it) && !it.state.startsWith('Z'));
}

/** Every process; none where the system does not tell. */
function processes(): ProcessEntry[] {
  try {
    return process.platform === 'linux' ? fromProc() : fromPs();
  } catch {
    return [];
  }
}

/** Whether a process was started with this in its environment; no where the system does not tell. */
function hasInEnvironment(pid: number, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(text);
  } catch {
    return false;
  }
}

function fromProc(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      // The name, in parentheses, can hold anything.
      const stat = /.*\) (\S) (\d+) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      return entryOf(pid, stat?.[2], stat?.[3], stat?.[1]);
    } catch {
      return []; // It has ended meanwhile.
    }
  });
}

function fromPs(): ProcessEntry[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    return entryOf(pid, parent, group, state);
  });
}

function entryOf(pid?: string, parent?: string, group?: string, state?: string): ProcessEntry[] {
  if (state === undefined) return [];
  return [{ pid: Number(pid), parent: Number(parent), group: Number(group), state }];
}
