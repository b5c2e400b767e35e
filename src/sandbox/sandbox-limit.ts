import { KeeperError } from './keeper.ts';

/** The limit of sandboxes is reached. */
export class SandboxLimitError extends KeeperError {
  override readonly name = 'SandboxLimitError';
  override readonly code = 'too_many_sandboxes';

  constructor(most: number, sandbox: string) {
    super(
      `sandbox limit (${most}) reached; ${sandbox} was not created. Delete sandboxes, or raise --max-sandboxes`,
    );
  }
}
