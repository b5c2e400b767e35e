import { expect, test } from 'vitest';
import { packageVersion } from '../../src/package.ts';
import { describeServer } from '../helpers/wire.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const HOST = { Host: 'localhost:4010' };
const ORIGIN = 'http://localhost:4010';

describeServer('the root', (open) => {
  test.each([
    ['/', '/__mock/'],
    ['/?from=here', '/__mock/'],
    ['/~one', '/~one/__mock/'],
    ['/~one/', '/~one/__mock/'],
  ])('redirects a browser from %s to %s', async (path, location) => {
    const client = await open();
    const reply = await client.send('GET', path, { key: null, headers: { Accept: BROWSER } });
    // An HTML body would have no policy.
    expect(reply).toMatchObject({ status: 302, text: '', headers: { location, vary: 'Accept' } });
    expect(reply.headers['content-type']).toBeUndefined();
    const page = await client.send('GET', location, { key: null, headers: { ...HOST } });
    expect(page.headers['content-type']).toMatch(/^text\/html/);
  });

  test.each(['', '/~one'])(
    'tells a program where everything of the sandbox %s is',
    async (base) => {
      const client = await open();
      const reply = await client.send('GET', `${base}/`, { key: null, headers: HOST });
      expect(reply.status).toBe(200);
      const control = `${ORIGIN}${base}/__mock`;
      expect(reply.json).toEqual({
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
      const named = reply.text.match(/http:\/\/localhost:4010\/[^"]+/g) ?? [];
      const targets = named.map((url) => url.slice(ORIGIN.length).replace(/\/v1$/, '/v1/pets'));
      for (const target of targets) {
        const { status } = await client.send('GET', target, { headers: HOST });
        expect([200, 308], target).toContain(status);
      }
    },
  );

  test('lists only the service and its health check under --no-control, even for a browser', async () => {
    const { send } = await open({ noControl: true });
    const { json } = await send('GET', '/', { key: null, headers: { ...HOST, Accept: BROWSER } });
    expect(json).toEqual({
      name: 'petstore-mock',
      version: packageVersion(),
      service: `${ORIGIN}/v1`,
      health: `${ORIGIN}/__mock/health`,
    });
  });

  test('does not exist under --plain', async () => {
    const client = await open({ plain: true });
    for (const path of ['/', '/~one/']) {
      const reply = await client.send('GET', path, { headers: { Accept: BROWSER } });
      expect(reply).toMatchObject({ status: 404, json: { code: 'route_not_found' } });
    }
  });

  test('leaves other methods and malformed names to the service', async () => {
    const client = await open();
    expect(await client.send('POST', '/', { body: {} })).toMatchObject({ status: 404 });
    expect(await client.send('GET', '/~no%20name/')).toMatchObject({
      status: 400,
      json: { code: 'sandbox_name_invalid' },
    });
    const head = await client.send('HEAD', '/', { headers: HOST });
    expect(head).toMatchObject({ status: 200, text: '' });
  });

  test('creates no sandbox and no exchange', async () => {
    const client = await open();
    for (const path of ['/', '/~one', '/~one/']) await client.send('GET', path);
    const { json } = await client.send('GET', '/__mock/sandboxes', { headers: HOST });
    expect(json).toMatchObject([{ name: 'default' }, { name: 'staging' }]);
    const requests = await client.send('GET', '/__mock/requests', { headers: HOST });
    expect(requests.json).toMatchObject({ exchanges: [] });
  });
});

describeServer('the files of the dashboard', (open) => {
  test.each(['/__mock', '/~new/__mock'])('%s redirects to its page', async (mount) => {
    const { send } = await open();
    const led = await send('GET', mount);
    expect(led).toMatchObject({ status: 308, text: '', headers: { location: `${mount}/` } });
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

  test.each(['/__mock/', '/__mock/docs'])(
    'the policy of %s forbids foreign content and inline scripts',
    async (page) => {
      const { send } = await open();
      const { headers } = await send('GET', page);
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(policy.join()).not.toContain('unsafe');
    },
  );

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
});
