import { describe, expect, test } from 'vitest';
import { typesProject } from '../../helpers/projects.ts';

const NODE16 = { module: 'node16' };
const NODENEXT = { module: 'nodenext' };
const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };

describe.concurrent('the published types', () => {
  const compile = typesProject();

  test.each<[string, string, object, 5 | 7]>([
    ['bundler', 'their own too', { ...BUNDLER, skipLibCheck: false }, 7],
    ['node16', 'their own too', { ...NODE16, skipLibCheck: false }, 7],
    ['bundler', 'not their own', { ...BUNDLER, skipLibCheck: true }, 5],
  ])('are exact for every field under %s, with %s checked', async (way, of, options, by) => {
    const name = `${way}-${of.length}-${by}`;
    expect(await compile(name, ['consumer.ts'], options, by)).toEqual({ code: 0, output: '' });
  });

  test.each([
    ['nodenext', 'their own too', { ...NODENEXT, skipLibCheck: false }, 7],
    ['node16', 'not their own', { ...NODE16, skipLibCheck: true }, 5],
  ] as const)('serve CommonJS files under %s, with %s checked', async (way, _of, options, by) => {
    const checked = await compile(`commonjs-${way}`, ['consumer.cts'], options, by);
    expect(checked).toEqual({ code: 0, output: '' });
  });

  test('are right for vitest and Playwright, and for their examples', async () => {
    const files = ['vitest/orders.test.ts', 'vitest/vitest.config.ts', 'playwright/orders.spec.ts'];
    const others = ['playwright/page.spec.ts', 'playwright/playwright.config.ts'];
    const options = { ...NODE16, skipLibCheck: false, allowJs: true, types: ['node'] };
    expect(await compile('examples', [...files, ...others], options)).toEqual({
      code: 0,
      output: '',
    });
  });

  test.each(['vitest', 'playwright', 'jest'])('know the matchers of %s', async (runner) => {
    const options = { ...NODENEXT, skipLibCheck: true, types: ['node'] };
    const checked = await compile(`matchers-${runner}`, [`${runner}/matchers.cts`], options);
    expect(checked).toEqual({ code: 0, output: '' });
  });
});
