import { sandbox } from './session.ts';

export interface Draft {
  readonly text: string;
  /** The version that it was made from; undefined for one that nobody has saved. */
  readonly etag: string | undefined;
}

function keyOf(name: string): string {
  return `petstore-mock draft ${sandbox}/${name}`;
}

export function readDraft(name: string): Draft | undefined {
  const text = sessionStorage.getItem(keyOf(name));
  return text === null ? undefined : JSON.parse(text);
}

export function keepDraft(name: string, draft: Draft): void {
  sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
}

export function dropDraft(name: string): void {
  sessionStorage.removeItem(keyOf(name));
}
