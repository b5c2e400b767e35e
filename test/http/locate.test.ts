import { describe, expect, test } from 'vitest';
import { locate } from '../../src/http/service-handler.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';

const store = loadFixtureSync('default');

function startWith(...valid: readonly string[]) {
  return startOf({ keys: { valid } }, store, []);
}

/** The sandbox that a token selects, and the remaining token. */
function located(sandboxes: Sandboxes, token: string, inPath?: string, inHeader?: string) {
  const headers = { authorization: `Bearer ${token}`, 'mock-sandbox': inHeader };
  const { sandbox, authorization } = locate(sandboxes, inPath, headers);
  return [sandbox.name, authorization];
}

describe('a key with a sandbox name', () => {
  test.each([
    ['key~mine', 'mine', 'Bearer key'],
    ['a~b~mine', 'mine', 'Bearer a~b'],
  ])('%s selects %s', (token, name, authorization) => {
    expect(located(new Sandboxes(startWith('key')), token)).toEqual([name, authorization]);
  });

  test('wins over the header, but not over the path', () => {
    const sandboxes = new Sandboxes(startWith('key'));
    expect(located(sandboxes, 'key~mine', undefined, 'other')).toEqual(['mine', 'Bearer key']);
    expect(sandboxes.has('other')).toBe(false);
    expect(located(sandboxes, 'key~mine', 'path', 'other')).toEqual(['path', 'Bearer key']);
  });

  test('with many spaces is parsed in linear time', () => {
    const spaces = ' '.repeat(1_000_000);
    expect(located(new Sandboxes(startWith('key')), `${spaces}x~!`)[0]).toBe('default');
  });
});

describe('a key that contains ~', () => {
  test('is not split if every sandbox starts with it', () => {
    const sandboxes = new Sandboxes(startWith('a~b'));
    expect(located(sandboxes, 'a~b')).toEqual(['default', 'Bearer a~b']);
    expect(located(sandboxes, 'a~b', 'mine')).toEqual(['mine', 'Bearer a~b']);
    expect(located(sandboxes, 'a~b', undefined, 'other')).toEqual(['other', 'Bearer a~b']);
  });

  test('is not split in the one sandbox that has it', async () => {
    const sandboxes = new Sandboxes(startWith('key'));
    const start = startWith('a~b');
    await sandboxes.find('mine')?.change((state) => ({
      state: { ...state, settings: { ...state.settings, start } },
      result: undefined,
    }));
    expect(located(sandboxes, 'a~b', 'mine')).toEqual(['mine', 'Bearer a~b']);
    expect(located(sandboxes, 'a~b', undefined, 'mine')).toEqual(['mine', 'Bearer a~b']);
    expect(located(sandboxes, 'a~b', 'other')).toEqual(['other', 'Bearer a']);
    expect(located(sandboxes, 'a~b')).toEqual(['b', 'Bearer a']);
  });
});
