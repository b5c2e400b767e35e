import { expect, test } from 'vitest';
import { hideKeys } from '../../src/deployment/hide-keys.ts';

test('a key is masked as it is, quoted, and where a message was cut in its middle', () => {
  const key = 'sk-"long"-and-secret';
  expect(hideKeys(`key ${key}, found ${JSON.stringify(`Bearer ${key}`)}`, [key])).toBe(
    'key KEY, found "Bearer KEY"',
  );
  expect(hideKeys('found "Bearer sk-\\"long\\"-and…', [key])).toBe('found "Bearer KEY…');
  expect(hideKeys('found "a sk… and more', [key])).toBe('found "a sk… and more');
});

test('a short key is masked only where the deployment repeats it as a word', () => {
  expect(hideKeys('GET /pets: a key is asked for, found "Bearer a" and "an apple"', ['a'])).toBe(
    'GET /pets: a key is asked for, found "Bearer KEY" and "an apple"',
  );
});
