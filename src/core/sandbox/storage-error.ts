interface StorageErrorOptions extends ErrorOptions {
  readonly code?: 'not_saved' | 'too_many_sandboxes';
  /** Set if the change may have been saved in spite of the error. */
  readonly isOutcomeUnknown?: boolean;
}

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: NonNullable<StorageErrorOptions['code']>;
  readonly isOutcomeUnknown: boolean;

  constructor(message: string, options: StorageErrorOptions = {}) {
    super(message, options);
    this.code = options.code ?? 'not_saved';
    this.isOutcomeUnknown = options.isOutcomeUnknown ?? false;
  }

  get consequence(): string {
    if (this.isOutcomeUnknown) return `the change may have been made: ${this.message}`;
    return this.code === 'not_saved' ? `the change was not made: ${this.message}` : this.message;
  }
}

export function createLimitError(max: number, sandbox: string): StorageError {
  return new StorageError(
    `sandbox limit (${max}) reached; ${sandbox} was not created. Delete sandboxes, or raise --max-sandboxes`,
    { code: 'too_many_sandboxes' },
  );
}
