import { expect, test } from 'vitest';
import { PageCache } from '../../src/service/pets-page.ts';

/** Asks for pages of a size, and counts how often one had to be made. */
function asked(cache: PageCache, bytes: number) {
  let made = 0;
  const ask = (limit: number, offset = 0, status?: string, version = 1): void => {
    const page = { limit, offset, status, empty: false, after: undefined };
    cache.get(version, page, () => {
      made += 1;
      return { text: Buffer.alloc(bytes), next: undefined, total: undefined };
    });
  };
  const madeSince = (work: () => void): number => {
    const before = made;
    work();
    return made - before;
  };
  return { ask, madeSince };
}

const ALL = Array.from({ length: 100 }, (_, index) => index + 1);

function each(work: (number: number) => void): () => void {
  return () => {
    for (const number of ALL) work(number);
  };
}

test('pages of the usual size are made once', () => {
  const { ask, madeSince } = asked(new PageCache(), 8000);
  for (const askAll of [each((limit) => ask(limit)), each((limit) => ask(limit, 10, 'sold'))]) {
    expect(madeSince(askAll)).toBe(100);
    expect(madeSince(askAll)).toBe(0);
  }
});

test('a page of long names is not kept', () => {
  const { ask, madeSince } = asked(new PageCache(), 1_000_000);
  expect(madeSince(() => [ask(1), ask(1), ask(1, 10), ask(1, 10)])).toBe(4);
});

test('what is kept is bounded in bytes, those of older versions and of filters included', () => {
  const { ask, madeSince } = asked(new PageCache(), 60_000);
  /** The latest are kept: as many as need not be made again. */
  const keptBytes = (askOne: (number: number) => void): number => {
    each(askOne)();
    return 60_000 * ALL.toReversed().findIndex((it) => madeSince(() => askOne(it)) > 0);
  };
  const ofVersions = keptBytes((version) => ask(5, 5, undefined, version));
  for (const bytes of [keptBytes((limit) => ask(limit)), ofVersions]) {
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(4 * 1024 ** 2);
  }
});

test('what a page is asked for with counts too', () => {
  const { ask, madeSince } = asked(new PageCache(), 2);
  const status = 'x'.repeat(40_000);
  expect(madeSince(() => [ask(1, 0, status), ask(1, 0, status)])).toBe(2);
});
