import { constants } from 'node:os';

/** How a command ended. */
export type Ending =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'timed-out'; readonly seconds: number }
  /** `code` is that of Node's error, such as `ENOENT`. */
  | { readonly kind: 'not-started'; readonly code: string | undefined };

/** The exit code that a shell would report; that of `timeout` for a command that took too long. */
export function exitCodeOf(ending: Ending): number {
  switch (ending.kind) {
    case 'exited':
      return ending.code;
    case 'signalled':
      return signalExitCode(ending.signal);
    case 'timed-out':
      return 124;
    case 'not-started':
      return ending.code === 'ENOENT' ? 127 : 126;
  }
}

/** The exit status of a process that a signal ended. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Describes an ending, to follow the command's name in a sentence. */
export function tellEnding(ending: Ending): string {
  switch (ending.kind) {
    case 'exited':
      return `exited with status ${ending.code}`;
    case 'signalled':
      return `was killed by ${ending.signal} (signal ${constants.signals[ending.signal]})`;
    case 'timed-out':
      return `timed out after ${ending.seconds} s`;
    case 'not-started':
      return `cannot be started: ${NOT_STARTED[ending.code ?? ''] ?? `error ${ending.code}`}`;
  }
}

const NOT_STARTED: Readonly<Record<string, string>> = {
  ENOENT: 'no such program',
  EACCES: 'it is not executable',
};
