/** The command line, the environment or a file is wrong. Nothing was started. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The request was valid but failed: a taken port, a full disk. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** Whether an error came from writing to standard output, such as a full disk. */
export function isOfOutput(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'write' && !('path' in error);
}
