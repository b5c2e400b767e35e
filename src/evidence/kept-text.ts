import { cut } from '../words.ts';

/** Kept characters of a request's target, of its key and of a reason. */
const KEPT_TEXT = 2048;

/** The part of a text that an exchange keeps. */
export function keptText<T extends string | undefined>(text: T): T | string {
  return text === undefined ? text : cut(text, KEPT_TEXT);
}
