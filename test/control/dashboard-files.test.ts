import { expect, test } from 'vitest';
import { describeBothWays } from '../helpers/wire.ts';

describeBothWays('the files of the dashboard', (open) => {
  test.each(['/__mock', '/~new/__mock'])('%s redirects to its page', async (mount) => {
    const { send } = await open();
    const led = await send('GET', mount);
    expect(led).toMatchObject({ status: 308, headers: { location: `${mount}/` } });
    const page = await send('GET', `${mount}/`);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(page.headers['set-cookie']).toBeUndefined();
    const [, script = ''] = /<script type="module" src="([^"]+)">/.exec(page.text) ?? [];
    const reply = await send('GET', `${mount}/${script}`);
    expect(reply).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/javascript; charset=utf-8' },
    });
    expect(reply.headers['cache-control']).toContain('immutable');
  });

  test.each([
    ['/__mock/docs/', '/__mock/docs'],
    ['/__mock//', '/__mock/'],
    ['/~new/__mock/docs/', '/~new/__mock/docs'],
  ])('%s redirects to %s, next to the files of the page', async (path, location) => {
    const { send } = await open();
    expect(await send('GET', path)).toMatchObject({ status: 308, headers: { location } });
    expect(await send('GET', location)).toMatchObject({ status: 200 });
  });

  test('a name that is too long for the file system is unknown like any other', async () => {
    const { send } = await open();
    const reply = await send('GET', `/__mock/dashboard/${'a'.repeat(5_000)}.js`);
    expect(reply).toMatchObject({ status: 404, json: { code: 'route_not_found' } });
  });

  test('no redirect has an HTML body, which would have no policy', async () => {
    const { send } = await open();
    for (const path of ['/', '/~new', '/__mock', '/~new/__mock']) {
      const { headers, text } = await send('GET', path, { headers: { Accept: 'text/html' } });
      expect([headers.location, headers['content-type'], text]).toEqual([
        expect.stringMatching(/__mock\/$/),
        undefined,
        '',
      ]);
    }
  });

  test('the policy of a page forbids foreign content and inline scripts', async () => {
    const { send } = await open();
    const { headers } = await send('GET', '/__mock/');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(policy.join()).not.toContain('unsafe');
  });

  test('they are compressed only for clients that accept that', async () => {
    const { send } = await open();
    const plain = await send('GET', '/__mock/');
    const packed = await send('GET', '/__mock/', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(Number(packed.headers['content-length'])).toBeLessThan(plain.text.length);
    const head = await send('HEAD', '/__mock/');
    expect([head.headers['content-length'], head.text]).toEqual([
      plain.headers['content-length'],
      '',
    ]);
  });

  test('reading them creates no sandbox', async () => {
    const { send } = await open();
    await send('GET', '/~new/__mock/');
    const { json } = await send('GET', '/__mock/sandboxes');
    expect(json).toHaveLength(2);
  });
});
