/** Redis refused a command or could not be reached. */
export class RedisError extends Error {
  override readonly name = 'RedisError';
  /** Whether the command may have been run. */
  readonly maybeDone: boolean;

  constructor(message: string, maybeDone = false) {
    super(message);
    this.maybeDone = maybeDone;
  }
}
