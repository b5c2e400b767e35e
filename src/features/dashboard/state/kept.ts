import { sandbox } from './session.ts';

const PREFIX = `petstore-mock ${sandbox} `;

/** What this tab keeps of its sandbox through a reload. */
export function readKept<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(PREFIX + name);
  return text === null ? undefined : JSON.parse(text);
}

/** @param value undefined to drop it */
export function keep(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // The storage is full: the page goes on without.
  }
}

/** How the names of what is kept go on. */
export function listKept(start: string): readonly string[] {
  const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX + start));
  return keys.map((key) => key.slice(PREFIX.length + start.length));
}
