import { describe, expect, test } from 'vitest';
import { packageVersion } from '../../../src/server/files.ts';
import { openServer } from '../../helpers/wire.ts';

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const HOST = { Host: 'localhost:4010' };
const ORIGIN = 'http://localhost:4010';

describe('the root', () => {
  test.each([
    ['/', '/__mock/'],
    ['/?from=here', '/__mock/'],
    ['/~one', '/~one/__mock/'],
    ['/~one/', '/~one/__mock/'],
  ])('redirects a browser from %s to %s', async (path, location) => {
    const { send } = await openServer();
    const reply = await send('GET', path, { key: null, headers: BROWSER });
    // An HTML body would have no policy.
    expect(reply).toMatchObject({ status: 302, text: '', headers: { location, vary: 'Accept' } });
    expect(reply.headers['content-type']).toBeUndefined();
    const page = await send('GET', location, { key: null });
    expect(page.headers['content-type']).toMatch(/^text\/html/);
  });

  test.each(['', '/~one'])(
    'of the sandbox "%s" tells a program where everything is',
    async (base) => {
      const { send } = await openServer();
      const { json, text } = await send('GET', `${base}/`, { key: null, headers: HOST });
      const control = `${ORIGIN}${base}/__mock`;
      expect(json).toEqual({
        name: 'petstore-mock',
        version: packageVersion(),
        service: `${ORIGIN}${base}/v1`,
        health: `${control}/health`,
        control,
        dashboard: `${control}/`,
        reference: `${control}/docs`,
        openapi: {
          service: `${control}/service.openapi.json`,
          control: `${control}/openapi.json`,
        },
      });
      for (const [, target = ''] of text.matchAll(/http:\/\/localhost:4010([^"]+)/g)) {
        const { status } = await send('GET', target.replace(/\/v1$/, '/v1/pets'), {
          headers: HOST,
        });
        expect([200, 308], target).toContain(status);
      }
    },
  );

  test('lists only the service and its health check under --no-control, even for a browser', async () => {
    const { send } = await openServer({ noControl: true });
    const { json } = await send('GET', '/', { key: null, headers: { ...HOST, ...BROWSER } });
    expect(json).toEqual({
      name: 'petstore-mock',
      version: packageVersion(),
      service: `${ORIGIN}/v1`,
      health: `${ORIGIN}/__mock/health`,
    });
  });

  test.each([
    ['GET', '/', { plain: true }, 404],
    ['POST', '/', {}, 404],
    ['GET', '/~no%20name/', {}, 400],
    ['HEAD', '/', {}, 200],
    ['GET', '/~one', {}, 200],
  ])(
    'answers %s %s with %o by %i, and creates no sandbox',
    async (method, path, options, status) => {
      const { send, control } = await openServer(options);
      expect((await send(method, path, { headers: HOST })).status).toBe(status);
      const { json } = await control('GET sandboxes');
      expect(json).toMatchObject([{ name: 'default' }, { name: 'staging' }]);
    },
  );
});

describe('the files of the dashboard', () => {
  test.each([
    ['/__mock', '/__mock/'],
    ['/~new/__mock', '/~new/__mock/'],
    ['/__mock//', '/__mock/'],
    ['/__mock/docs/', '/__mock/docs'],
    ['/~new/__mock/docs/', '/~new/__mock/docs'],
  ])('%s redirects to %s, next to the files of the page', async (path, location) => {
    const { send } = await openServer();
    expect(await send('GET', path)).toMatchObject({ status: 308, text: '', headers: { location } });
    const page = await send('GET', location);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; script-src 'self'; (?!.*unsafe).*; frame-ancestors 'none'$/,
      ),
    });
    expect(page.headers['set-cookie']).toBeUndefined();
    const [, script = ''] =
      /<script type="module" crossorigin src="([^"]+)">/.exec(page.text) ?? [];
    const { pathname } = new URL(script, ORIGIN + location);
    expect(await send('GET', pathname)).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': expect.stringContaining('immutable'),
      },
    });
  });

  test.each(['nothing.js', '..%2findex.html', '%2e%2e/index.html'])('lack %s', async (file) => {
    const { send } = await openServer();
    const missing = { status: 404, json: { code: 'route_not_found' } };
    expect(await send('GET', `/__mock/assets/${file}`)).toMatchObject(missing);
  });

  test('have a version each, and come without a body where that is asked', async () => {
    const { send } = await openServer();
    const page = await send('GET', '/__mock/');
    const [, script = ''] = /src="\.\/(assets\/[^"]+)"/.exec(page.text) ?? [];
    const { headers } = await send('GET', `/__mock/${script}`);
    expect(headers).toMatchObject({ etag: expect.any(String) });
    const again = { headers: { 'If-None-Match': page.headers.etag ?? '' } };
    expect(await send('GET', '/__mock/', again)).toMatchObject({ status: 304, text: '' });
    const { headers: head, text } = await send('HEAD', '/__mock/');
    expect([head['content-length'], text]).toEqual([page.headers['content-length'], '']);
  });
});
