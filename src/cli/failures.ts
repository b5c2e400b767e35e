/** The command line, the environment or a file asks for something that cannot be. Nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was asked for is right, and did not work out: a taken port, a full disk. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** Whether an error came of writing to standard output, as where that is a file and its disk is full. */
export function isOfOutput(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'write' && !('path' in error);
}
