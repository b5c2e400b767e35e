import type { Choices } from '../contract/assumption-table.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';

/** Reports a bug of the mock as a warning, and answers with an Error; others are not affected. */
export function failed(choices: Choices, error: unknown): Reply {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  const grounds = new Grounds(choices);
  return errorReply(grounds, 'internal_error', 500, 'the mock itself failed');
}
