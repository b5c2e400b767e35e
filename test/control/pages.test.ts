import { expect, test } from 'vitest';
import { packageVersion } from '../../src/files.ts';
import { describeServer } from '../helpers/wire.ts';

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const HOST = { Host: 'localhost:4010' };
const ORIGIN = 'http://localhost:4010';

describeServer('the root', (open) => {
  test.each([
    ['/', '/__mock/'],
    ['/?from=here', '/__mock/'],
    ['/~one', '/~one/__mock/'],
    ['/~one/', '/~one/__mock/'],
  ])('redirects a browser from %s to %s', async (path, location) => {
    const { send } = await open();
    const reply = await send('GET', path, { key: null, headers: BROWSER });
    // An HTML body would have no policy.
    expect(reply).toMatchObject({ status: 302, text: '', headers: { location, vary: 'Accept' } });
    expect(reply.headers['content-type']).toBeUndefined();
    const page = await send('GET', location, { key: null });
    expect(page.headers['content-type']).toMatch(/^text\/html/);
  });

  test.each(['', '/~one'])(
    'tells a program where everything of the sandbox %s is',
    async (base) => {
      const { send } = await open();
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
    const { send } = await open({ noControl: true });
    const { json } = await send('GET', '/', { key: null, headers: { ...HOST, ...BROWSER } });
    expect(json).toEqual({
      name: 'petstore-mock',
      version: packageVersion(),
      service: `${ORIGIN}/v1`,
      health: `${ORIGIN}/__mock/health`,
    });
  });

  test('does not exist under --plain', async () => {
    const { send } = await open({ plain: true });
    for (const path of ['/', '/~one/']) {
      const unknown = { status: 404, json: { code: 'route_not_found' } };
      expect(await send('GET', path, { headers: BROWSER })).toMatchObject(unknown);
    }
  });

  test('leaves other methods and malformed names to the service', async () => {
    const { send } = await open();
    expect(await send('POST', '/', { body: {} })).toMatchObject({ status: 404 });
    const malformed = { status: 400, json: { code: 'sandbox_name_invalid' } };
    expect(await send('GET', '/~no%20name/')).toMatchObject(malformed);
    expect(await send('HEAD', '/', { headers: HOST })).toMatchObject({ status: 200, text: '' });
  });

  test('creates no sandbox and no exchange', async () => {
    const { send, control } = await open();
    for (const path of ['/', '/~one', '/~one/']) await send('GET', path);
    const { json } = await control('GET sandboxes');
    expect(json).toMatchObject([{ name: 'default' }, { name: 'staging' }]);
    expect((await control('GET requests')).json).toMatchObject({ exchanges: [] });
  });
});

describeServer('the files of the dashboard', (open) => {
  test.each([
    ['/__mock', '/__mock/'],
    ['/~new/__mock', '/~new/__mock/'],
    ['/__mock//', '/__mock/'],
    ['/__mock/docs/', '/__mock/docs'],
    ['/~new/__mock/docs/', '/~new/__mock/docs'],
  ])('%s redirects to %s, next to the files of the page', async (path, location) => {
    const { send } = await open();
    expect(await send('GET', path)).toMatchObject({ status: 308, text: '', headers: { location } });
    const page = await send('GET', location);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(page.headers['set-cookie']).toBeUndefined();
    const [, script = ''] = /<script type="module" src="([^"]+)">/.exec(page.text) ?? [];
    const { pathname } = new URL(script, ORIGIN + location);
    expect(await send('GET', pathname)).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': expect.stringContaining('immutable'),
      },
    });
  });

  test.each(['', 'docs'])('/__mock/%s forbids foreign content and inline scripts', async (path) => {
    const { control } = await open();
    const { headers } = await control(`GET ${path}`);
    const policy = String(headers['content-security-policy']);
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
      expect(policy.split('; ')).toContain(part);
    }
    expect(policy).not.toContain('unsafe');
  });

  test('are compressed, but for the page itself, and have a version each', async () => {
    const { send } = await open();
    const page = await send('GET', '/__mock/');
    expect(page.headers['content-encoding']).toBeUndefined();
    const [, script = ''] = /src="(dashboard\/[^"]+)"/.exec(page.text) ?? [];
    const { headers } = await send('GET', `/__mock/${script}`);
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', etag: expect.any(String) });
    const again = { headers: { 'If-None-Match': page.headers.etag ?? '' } };
    expect(await send('GET', '/__mock/', again)).toMatchObject({ status: 304, text: '' });
    const { headers: head, text } = await send('HEAD', '/__mock/');
    expect([head['content-length'], text]).toEqual([page.headers['content-length'], '']);
  });
});
