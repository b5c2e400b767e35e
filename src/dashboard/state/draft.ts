import { signal } from '@preact/signals';
import { go } from './place.ts';

const KEY = 'petstore-mock scenario';

const EXAMPLE = `description: Order 1 cannot be cancelled.
rules:
  - { on: cancelOrder, where: { orderId: 1 }, reply: { status: 409 } }
`;

/** The user's own scenario in YAML, kept through reloads of this tab. */
export const draft = signal(sessionStorage.getItem(KEY) ?? EXAMPLE);

export function keepDraft(text: string): void {
  sessionStorage.setItem(KEY, text);
}

/** Opens a text in the editor. */
export function editDraft(text: string): void {
  keepDraft(text);
  draft.value = text;
  go('scenarios', 'edit');
}
