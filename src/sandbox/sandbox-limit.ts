/** The limit of sandboxes is reached. */
export class SandboxLimitError extends Error {
  override readonly name = 'SandboxLimitError';

  constructor(most: number, sandbox: string) {
    super(
      `sandbox limit (${most}) reached; ${sandbox} was not created. Delete sandboxes, or raise --max-sandboxes`,
    );
  }
}
