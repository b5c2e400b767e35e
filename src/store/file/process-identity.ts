import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, named so that no later process on any machine has the same name. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** The running kernel and its namespace of process ids; undefined where the system has no name for it. */
  readonly system?: string | undefined;
  /** When the process began, in the kernel's ticks. It tells a process from a later one of its id. */
  readonly began?: string | undefined;
}

/** This process. Containers often share pid 1 and a host name; their namespaces differ. */
export function thisProcess(): ProcessIdentity {
  const { pid } = process;
  return { pid, host: hostname(), system: systemName(), began: beganAt(pid) };
}

/**
 * Whether a process still runs.
 *
 * @param self who asks
 * @returns undefined where this cannot be known from here: another machine, container or kernel
 */
export function isRunning(
  { pid, system, began }: ProcessIdentity,
  self: ProcessIdentity,
): boolean | undefined {
  if (system === undefined || began === undefined || system !== self.system) return undefined;
  return beganAt(pid) === began;
}

function systemName(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Not Linux, or a /proc without these.
    return undefined;
  }
}

/** The start time of a process, or undefined where there is none or it has ended. See proc(5). */
function beganAt(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(state) ? undefined : fields[18];
  } catch {
    return undefined;
  }
}
