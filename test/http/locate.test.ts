import { expect, test } from 'vitest';
import { locate } from '../../src/http/service-handler.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { EMPTY_STORE } from '../../src/store/store.ts';

const startWith = (key: string) => startOf({ keys: { valid: [key] } }, EMPTY_STORE, []);

/** The sandbox that a token selects, and the remaining token. */
function located(sandboxes: Sandboxes, token: string, inPath?: string, inHeader?: string) {
  const headers = { authorization: `Bearer ${token}`, 'mock-sandbox': inHeader };
  const { sandbox, authorization } = locate(sandboxes, inPath, headers);
  return `${sandbox.name} ${authorization}`;
}

test.each([
  ['key', 'key~mine', undefined, undefined, 'mine Bearer key'],
  ['key', 'key~mine', undefined, 'other', 'mine Bearer key'],
  ['key', 'key~mine', 'path', 'other', 'path Bearer key'],
  ['a~b', 'a~b~mine', undefined, undefined, 'mine Bearer a~b'],
  ['a~b', 'a~b', undefined, undefined, 'default Bearer a~b'],
  ['a~b', 'a~b', 'mine', undefined, 'mine Bearer a~b'],
  ['a~b', 'a~b', undefined, 'other', 'other Bearer a~b'],
])('beside the key %s, %s with path %s and header %s is %s', (key, token, path, header, found) => {
  expect(located(new Sandboxes(startWith(key)), token, path, header)).toBe(found);
});

test('a key with many spaces is parsed in linear time', () => {
  const spaces = ' '.repeat(1_000_000);
  expect(located(new Sandboxes(startWith('key')), `${spaces}x~one`)).toMatch(/^(default|one) /);
});
