import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ActionName } from '../../src/cli/commands/ctl-actions.ts';
import {
  connectPetstoreMock,
  createApp,
  type MockSandbox,
  type PetstoreMock,
  startPetstoreMock,
} from '../../src/index.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { listen } from '../helpers/host.ts';
import { runInProcess, startInProcess } from '../helpers/invocation.ts';

const folder = temporaryFolder();

let server: PetstoreMock;
beforeAll(async () => {
  server = await startPetstoreMock();
});
afterAll(() => server.stop());

/** A sandbox, and `ctl` for it as `exec` would let a command call it. */
function sandbox() {
  const mock = server.sandbox();
  const ctl = (...words: readonly string[]) =>
    runInProcess(['ctl', ...words], { PETSTORE_MOCK_URL: mock.url });
  return { mock, ctl };
}

async function send(mock: MockSandbox, method: string, path: string): Promise<number> {
  const headers = { Authorization: `Bearer ${mock.key}` };
  return (await fetch(mock.url + path, { method, headers })).status;
}

test.each([
  ['clock'], //
  ['gate', '--allow-no-calls'],
  ['health'],
])('%s finds the server by its address, its variables or its config file', async (...words) => {
  const command = words[0] === 'clock' ? ['ctl', ...words] : words;
  const { port, origin } = new URL(server.url);
  const config = join(folder, `${words[0]}.json`);
  writeFileSync(config, JSON.stringify({ port: Number(port) }));
  const elsewhere = 'http://127.0.0.1:1/v1';
  const find = (env: object, ...flags: string[]) =>
    runInProcess([...command, ...flags], { ...env });
  for (const finished of [
    await find({}, '--port', port),
    await find({ PETSTORE_MOCK_PORT: port, PETSTORE_MOCK_HOST: '0.0.0.0' }),
    await find({ PETSTORE_MOCK_URL: elsewhere }, '--host', 'localhost', '--port', port),
    await find({ PETSTORE_MOCK_URL: server.url, PETSTORE_MOCK_PORT: '1' }),
    await find({ PETSTORE_MOCK_URL: server.url, PETSTORE_MOCK_CONTROL_URL: elsewhere }),
    await find({ PETSTORE_MOCK_CONTROL_URL: `${origin}/__mock` }),
    await find({}, '--config', config),
    await find({ PETSTORE_MOCK_CONFIG: config }),
  ]) {
    expect(finished, finished.stderr).toMatchObject({ code: 0 });
  }
});

describe('ctl', () => {
  /** A line for each verb, in an order in which all of them succeed, and what it prints. */
  const VERBS: Readonly<Record<ActionName, readonly [line: string, text: RegExp]>> = {
    get: ['get orders _limit=2', /^id +petId .*\n(?:.*\n){2}2 of 14; _limit=N shows more\n$/],
    add: ['add pets name=7 categoryId=1', /^id +name +categoryId\n65 +7 +1\n$/],
    set: ['set inventory 1 quantity=0', /^petId +quantity +status\n1 +0 +available\n$/],
    delete: ['delete pets 65', /^deleted animals 65\n$/],
    ship: ['ship 3', /\n3 .* shipped\n$/],
    cancel: ['cancel 3', /\n3 .* cancelled\n$/],
    undo: ['undo', /^undone: \S.*\n$/],
    whatif: ['whatif 4', /^assumption +option +status +meaning\ncancel-again +404 +404 /],
    rewind: ['rewind 3', /^rewound to before call 3\n$/],
    snapshot: ['snapshot before', /^name +animals .*\nbefore +64 +64 +14\n$/],
    restore: ['restore before', /^restored before\n$/],
    use: [`use outage ${join(folder, 'verbs.yaml')}`, /\n1 +outage .*\n2 +slow .*\n3 +verbs\b/],
    save: [`save mine ${join(folder, 'verbs.yaml')}`, /^saved mine\n$/],
    assume: ['assume cancel-again=404', /\ncancel-again +404 +409 /],
    clock: ['clock 2030-11-06T00:00:00Z --freeze', /^2030-11-06T00:00:00\.000Z, frozen\n$/],
    hold: ['hold listOrders', /^holding listOrders as default; /],
    holds: ['holds', /^none\n$/],
    release: ['release open=true', /^none\n$/],
    requests: [
      'requests status=404',
      /\n2 +GET +\/~\S+\/v1\/pets\/999 +404 +assumed: unknown-pet=404\n$/,
    ],
    wait: ['wait operation=getPet', /^2 exchanges matched\n$/],
    coverage: [
      'coverage',
      /^ +shown +2 of 16 documented replies \(12%\)\n +not shown +listPets 200 /,
    ],
    findings: ['findings', /^exchange +code +message\n1 +deprecated +getPet is deprecated/],
    sandboxes: ['sandboxes', /\n\S+ .* 4 +2 +\/~\S+\n/],
    call: ['call getClock', /"frozen":true/],
    reset: ['reset', /^reset\n$/],
  };

  test('prints what one call returned for each verb, as text or JSON', async () => {
    writeFileSync(join(folder, 'verbs.yaml'), 'extends: slow\n');
    const calls: string[] = [];
    const onControlCall = ({ target }: { target: string }) => void calls.push(target);
    await using counted = await startPetstoreMock({ onControlCall });
    for (const flags of [[], ['--json']]) {
      const mock = counted.sandbox();
      const ctl = (...words: readonly string[]) =>
        runInProcess(['ctl', ...words], { PETSTORE_MOCK_URL: mock.url });
      for (const path of ['/pets/1', '/pets/999']) await send(mock, 'GET', path);
      for (let call = 3; call <= 4; call += 1) await send(mock, 'DELETE', '/store/orders/1');
      for (const [line, text] of Object.values(VERBS)) {
        const { code, stdout, stderr } = await ctl(...line.split(' '), ...flags);
        expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
        // A file is saved first.
        const saved = line.startsWith('use') ? 1 : 0;
        expect({ line, calls: calls.splice(0) }).toMatchObject({ calls: { length: 1 + saved } });
        if (flags.length === 0) expect(stdout).toMatch(text);
        else expect(JSON.parse(stdout)).toEqual(expect.any(Object));
      }
    }
  });

  test('calls any endpoint with a path, a query, a body or a file, and lists them', async () => {
    const { ctl } = sandbox();
    expect((await ctl('call')).stdout).toMatch(/\nsetClock +PUT +\/clock /);
    const now = '2030-12-06T00:00:00.000Z';
    const body = JSON.stringify({ now, frozen: true });
    expect(JSON.parse((await ctl('call', 'setClock', body)).stdout)).toMatchObject({ now });
    const advanced = await ctl('call', 'advanceClock', 'by=P1D');
    expect(JSON.parse(advanced.stdout)).toMatchObject({ now: '2030-12-07T00:00:00.000Z' });
    const file = join(folder, 'called.yaml');
    writeFileSync(file, 'extends: slow\n');
    expect((await ctl('call', 'saveScenario', 'name=a.1', `@${file}`)).code).toBe(0);
    expect((await ctl('call', 'getScenarioSource', 'name=a.1')).stdout).toBe('extends: slow\n');
    const removed = await ctl('call', 'deleteScenario', 'name=a.1');
    expect(removed).toMatchObject({ code: 0, stdout: 'deleteScenario\n' });
  });

  test.each([
    ['an argument', 'advanceClock', '{"by":', 'ctl call:1:7: expected JSON: '],
    ['a file', 'advanceClock', '@bad.json', 'bad.json:2:9: expected JSON: '],
    ['a value', 'setLatch', 'where={"by":', 'ctl where:1:7: expected JSON: '],
  ])('says where %s is not JSON', async (_what, operation, word, place) => {
    const { ctl } = sandbox();
    writeFileSync(join(folder, 'bad.json'), '{\n  "by": ,\n}');
    const given = word.replace('@', `@${folder}/`);
    const { code, stderr } = await ctl('call', operation, given);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(place) });
  });

  test('uses a file under its own name, whatever letters it has', async () => {
    const { mock, ctl } = sandbox();
    const file = join(folder, 'Ärger.yaml');
    writeFileSync(file, 'rules: [{ on: getPet, reply: { status: 404 } }]');
    expect((await ctl('use', file)).stdout).toMatch(/\n1 +Ärger\b/);
    const headers = { Authorization: `Bearer ${mock.key}` };
    const reply = await fetch(`${mock.url}/pets/1`, { headers });
    expect(reply.headers.get('Mock-Basis')).toBe('forced;by="%C3%84rger#1"');
    expect((await ctl('requests')).stdout).toContain('forced: Ärger#1');
  });

  test('reads the values of fields as the fields are', async () => {
    const { mock, ctl } = sandbox();
    await ctl('set', 'pets', '1', 'name=7', 'status=null', 'categoryId=9007199254740993');
    const animal = { id: 1, name: '7', categoryId: 9007199254740993n };
    expect(await mock.animals.get(1)).toEqual(animal);
  });

  test.each([
    ['set', 'pets', '1', 'name=null', 'status=sold'],
    ['set', 'inventory', '1', 'quantity=null'],
    ['add', 'pets', 'name=null', 'categoryId=1'],
    ['add', 'pets', 'name=Rex', 'categoryId=1', 'status=null'],
    ['add', 'orders', 'petId=1', 'shipDate=null'],
    ['add', 'inventory', 'petId=1', 'quantity=1', 'status=null'],
  ])('sends null, never the word, and is refused: %s %s %s %s', async (...line) => {
    const { mock, ctl } = sandbox();
    const before = await mock.state.get();
    const { code, stderr } = await ctl(...line);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('found null') });
    expect(await mock.state.get()).toEqual(before);
  });

  test.each(['search=409', 'key=123', 'text={"a"', 'status=401', 'unmatched=false'])(
    'takes %s in wait as in requests',
    async (filter) => {
      const { mock, ctl } = sandbox();
      await send(mock, 'GET', '/pets?limit=409');
      const headers = { Authorization: 'Bearer 123' };
      await fetch(`${mock.url}/pets`, { method: 'POST', headers, body: '{"a":1}' });
      const { length } = JSON.parse((await ctl('requests', filter, '--json')).stdout);
      expect(length).toBeGreaterThan(0);
      const { stdout } = await ctl('wait', filter, '--json');
      expect(JSON.parse(stdout)).toMatchObject({ count: length });
    },
  );

  test.each([
    ['get', 'pets', 'id=1', 'id=2'],
    ['call', 'listAnimals', 'id=1', 'id=2'],
    ['sandboxes', 'name=default', 'name=staging'],
  ])('%s passes each value of a repeated filter on', async (...line) => {
    const { ctl } = sandbox();
    expect(JSON.parse((await ctl(...line, '--json')).stdout)).toHaveLength(2);
  });

  test('reads the values of a body as its members are', async () => {
    const { mock, ctl } = sandbox();
    await ctl('add', 'pets', 'name="Rex"', 'categoryId=1', 'status={');
    expect(await mock.animals.get(65)).toMatchObject({ name: '"Rex"', status: '{' });
    expect(
      (await ctl('hold', 'listPets', 'true', 'calls=2,4', 'where={"limit":1}')).stdout,
    ).toMatch(/^holding listPets as true;/);
    expect((await ctl('call', 'setScenario', 'scenarios=slow,outage')).code).toBe(0);
    expect((await ctl('assume', 'cancel-again=404', 'rate-limit=5/s')).stdout).toMatch(
      /\ncancel-again +404 +409 .*\nrate-limit +5\/s /s,
    );
    expect((await ctl('assume', 'cancel-again=null')).stdout).not.toContain('cancel-again');
  });

  test('holds an operation, waits for its calls, and releases them in any order', async () => {
    const { mock, ctl } = sandbox();
    expect((await ctl('hold', 'getPet', 'pets', 'calls=1-3')).code).toBe(0);
    const calls = [1, 2, 3].map((id) => send(mock, 'GET', `/pets/${id}`));
    expect((await ctl('wait', 'operation=getPet', 'atLeast=3')).code).toBe(0);
    expect(await send(mock, 'GET', '/pets/4')).toBe(200);
    expect((await ctl('holds')).stdout).toMatch(
      /^exchange +name +method +target +since\n\d +pets +GET/,
    );
    const { stdout } = await ctl('release', 'pets', 'newestFirst=true', 'count=1', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ released: [{ exchange: 3 }], held: 2 });
    expect((await ctl('release', 'exchanges=1,2', 'open=true')).code).toBe(0);
    expect(await Promise.all(calls)).toEqual([200, 200, 200]);
    expect((await ctl('release', 'a', 'b')).code).toBe(2);
  });

  test('saves scenarios from files, exactly, and uses them; a reset keeps them', async () => {
    const { mock, ctl } = sandbox();
    const texts = { yaml: 'extends: slow # and\n', json: '{"extends":  "base.1"}' };
    for (const [type, text] of Object.entries(texts)) {
      const file = join(folder, `mine.${type}`);
      writeFileSync(file, text);
      const name = type === 'yaml' ? 'base.1' : 'top';
      expect(await ctl('save', name, file)).toMatchObject({ code: 0, stdout: `saved ${name}\n` });
      expect(await mock.scenarios.text(name)).toBe(text);
    }
    await ctl('reset');
    expect((await ctl('use', 'top')).stdout).toMatch(/1 +slow .*\n2 +base\.1.*\n3 +top/);
    const missing = await ctl('save', 'top', join(folder, 'none.yaml'));
    expect(missing).toMatchObject({ code: 2 });
    expect((await ctl('save', 'slow', join(folder, 'mine.yaml'))).code).toBe(1);
  });

  test('prints records as a table, or as JSON with exact ids', async () => {
    const { mock, ctl } = sandbox();
    await mock.animals.put(9007199254740993n, { name: 'Rex\u001B[31m', categoryId: 1 });
    const { stdout } = await ctl('get', 'animals', 'q=rex', '_sort=id');
    expect(stdout).toContain('9007199254740993  Rex\\u001b[31m');
    await mock.animals.put(1, { name: '日本語の名前', categoryId: 1 });
    expect((await ctl('get', 'pets', 'id=1')).stdout).toBe(
      'id  name          categoryId\n1   日本語の名前  1\n',
    );
    const json = await ctl('get', 'animals', '9007199254740993', '--json');
    expect(json.stdout).toContain('"id": 9007199254740993,');
  });

  test('resets all but what --keep names, and uses no scenario with --none', async () => {
    const { mock, ctl } = sandbox();
    await ctl('use', 'outage', 'slow');
    await ctl('assume', 'cancel-again=404');
    await ctl('reset', '--keep', 'scenario');
    expect((await ctl('assume')).stdout).toBe('none\n');
    expect((await mock.scenario.get()).map(({ name }) => name)).toEqual(['outage', 'slow']);
    await ctl('use', '--none');
    expect(await mock.scenario.get()).toEqual([]);
  });

  test('follows exchanges until the server stops', async () => {
    // What the loop sends while the command starts must not push anything out.
    const own = await startPetstoreMock({ journal: 100_000 });
    const words = ['ctl', 'requests', '--follow', '--url', own.url, 'status=409'];
    const following = startInProcess(words);
    await send(own, 'DELETE', '/store/orders/1');
    // The stream begins with the first exchange after it was opened.
    while (following.stdout() === '') await send(own, 'DELETE', '/store/orders/1');
    expect(following.stdout()).toMatch(
      /^\d+ DELETE \/v1\/store\/orders\/1 409 assumed: cancel-again=409\n/,
    );
    await own.stop();
    const stderr = 'petstore-mock: the server ended the stream\n';
    expect(await following.ended).toMatchObject({ code: 1, stderr });
  });

  test('moves the clock, and returns to real time', async () => {
    const { ctl } = sandbox();
    await ctl('clock', '2030-11-06T00:00:00Z', '--freeze');
    expect((await ctl('clock', '+P30D')).stdout).toBe('2030-12-06T00:00:00.000Z, frozen\n');
    expect((await ctl('clock', 'real')).stdout).toMatch(/, real time\n$/);
  });

  test('says how many exchanges it could not follow', async () => {
    const own = await startPetstoreMock({ journal: 1 });
    for (let call = 1; call <= 3; call += 1) await send(own, 'GET', '/pets');
    const following = startInProcess(['ctl', 'requests', '--follow', 'after=1', '--url', own.url]);
    await following.printed();
    expect(following.stdout()).toMatch(/^3 GET \/v1\/pets 200/);
    expect(following.stderr()).toBe('the journal dropped 1 exchange\n');
    await own.stop();
    await following.ended;
  });

  test('finds a server below a path that itself contains /v1, as health does', async () => {
    const app = express().use('/v1/mock', createApp());
    const own = createServer(app);
    onTestFinished(() => void own.close());
    const mount = `http://127.0.0.1:${await listen(own)}/v1/mock`;
    const ctlAt = (url: string, ...words: readonly string[]) =>
      runInProcess(['ctl', ...words, '--url', url]);
    for (const path of ['', '/v1', '/v1/pets/1', '/~own/v1', '/__mock/requests', '/~own/__mock/']) {
      const url = mount + path;
      const shipped = await ctlAt(url, 'ship', '1');
      expect([url, shipped.code]).toEqual([url, 0]);
      expect((await runInProcess(['health', '--url', url])).code).toBe(0);
    }
    const mock = await connectPetstoreMock({ url: `${mount}/v1` });
    expect((await mock.orders.get(1)).status).toBe('shipped');
    const orders = await fetch(`${mock.url}/store/orders`);
    expect([mock.url, orders.status]).toEqual([`${mount}/v1`, 401]);
    expect((await ctlAt(mount, 'call', 'replay', 'number=1')).code).toBe(0);
    expect((await mock.requests.list()).map(({ status }) => status)).toEqual([401, 401]);
    expect((await ctlAt(`${mount}/~own/v1`, 'get', 'orders', '1')).stdout).toContain('shipped');
  });

  test('needs the token off loopback, and takes it from a flag or a variable', async () => {
    const own = createServer(createApp({ controlToken: 'secret' }));
    onTestFinished(() => void own.close());
    const env = { PETSTORE_MOCK_URL: `http://127.0.0.1:${await listen(own)}/v1` };
    const { code, stderr } = await runInProcess(['ctl', 'clock'], env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/token.*, or with --token/)]);
    expect((await runInProcess(['ctl', 'clock', '--token', 'secret'], env)).code).toBe(0);
    const config = join(folder, 'of-the-server.json');
    writeFileSync(config, JSON.stringify({ 'control-token': 'secret' }));
    expect((await runInProcess(['ctl', 'clock', '--config', config], env)).code).toBe(0);
    for (const name of ['PETSTORE_MOCK_TOKEN', 'PETSTORE_MOCK_CONTROL_TOKEN']) {
      expect((await runInProcess(['ctl', 'clock'], { ...env, [name]: 'secret' })).code).toBe(0);
    }
  });

  test.each([
    [[], 2, 'ctl: expected an action that "petstore-mock ctl --help" lists, found nothing'],
    [['ship'], 2, 'ctl ship needs ORDER'],
    [
      ['clock', '30d'],
      2,
      /expected an instant, \+DURATION such as \+P30D, or real, found "30d" \(did you mean \+P30D\?\)/,
    ],
    [['clock', '+90m'], 2, /found "\+90m" \(did you mean \+PT90M\?\)/],
    [['clock', 'soon'], 2, /found "soon"$/],
    [['get', 'pet'], 2, /expected animals, inventory or orders, found "pet"/],
    [['wait', 'within=PT0S'], 1, '0 exchanges matched, not 1'],
    [['hold', 'listPet'], 2, /found "listPet" \(did you mean listPets\?\)$/],
    [['add', 'pets', 'name=a', 'name=b'], 2, 'ctl: expected one value for name, found "a" and "b"'],
    [['set', 'pets', '1', 'name=a', 'name=a'], 2, /one value for name, found "a" and "a"$/],
    [['call', 'advanceClock', 'by=P1D', 'by=P1D'], 2, /one value for by, found "P1D" and "P1D"$/],
    [['call', 'getRequest', 'number=1', 'number=2'], 2, /one value for number, found "1" and "2"$/],
    [['call', 'setClock', '{}', '{}'], 2, 'ctl: expected NAME=VALUE, found "{}"'],
    [['requests', 'status=404', 'status=409'], 1, /^query\.status: expected .* found an array$/],
    [['hold', 'getPet', 'foo', 'foo'], 2, 'ctl: expected NAME=VALUE, found "foo"'],
    [['hold', 'getPet', 'foo', 'hold=bar'], 2, /one value for hold, found "foo" and "bar"$/],
    [['release', 'foo', 'foo'], 2, 'ctl: expected NAME=VALUE, found "foo"'],
    [['release', 'foo', 'name=bar'], 2, /one value for name, found "foo" and "bar"$/],
    [['release', 'exchanges=a,2'], 1, /^\$\.exchanges\[0\]: expected an integer .*found "a"$/],
    [['wait', 'status=4xx'], 1, /^\$\.status: expected an HTTP status .*found "4xx"$/],
    [['call', 'setClok'], 2, /an operation that "ctl call" lists, .*did you mean setClock\?\)$/],
    [['call', 'getRequest'], 2, 'ctl call getRequest needs number=VALUE'],
    [['call', 'setClock', 'now=soon'], 1, /^\$\.now: expected /],
    [['ship', 'one'], 1, /^id in the path: expected an integer from .*found "one"$/],
    [['set', 'orders', '1', 'status=gone'], 1, /expected pending, shipped or cancelled/],
    [['use', 'outtage'], 1, /did you mean outage\?/],
    [['reset', '--follow'], 2, 'ctl reset takes no --follow'],
    [['restore', 'none'], 1, 'there is no snapshot "none"'],
  ])('%j ends with %i and a reason', async (words, code, reason) => {
    const { ctl } = sandbox();
    const ended = await ctl(...words);
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    const [, said = ''] = /^petstore-mock: (.*)\n$/.exec(ended.stderr) ?? [];
    if (typeof reason === 'string') expect(said).toBe(reason);
    else expect(said).toMatch(reason);
  });

  test('controls an HTTPS server with its certificate, and says which protocol a server speaks', async () => {
    const { mock } = sandbox();
    const secure = await startPetstoreMock({ tls: true });
    onTestFinished(() => secure.stop());
    const file = join(folder, 'ca.pem');
    writeFileSync(file, secure.ca ?? '');
    const shipAt = (url: string, ...flags: readonly string[]) =>
      runInProcess(['ctl', 'ship', '1', '--url', url, ...flags]);
    expect((await shipAt(secure.url)).code).toBe(1);
    expect((await shipAt(secure.url, '--ca', file)).code).toBe(0);
    expect((await secure.orders.get(1)).status).toBe('shipped');
    const plain = await shipAt(secure.url.replace('https:', 'http:'));
    expect(plain.stderr).toContain('use a base URL with https://');
    const url = mock.url.replace('http:', 'https:');
    expect((await shipAt(url)).stderr).toContain('use a base URL with http://');
    const health = await runInProcess(['health', '--url', url]);
    expect(health.stderr).toContain('use a base URL with http://');
    await secure.stop();
    expect((await shipAt(secure.url)).stderr).toMatch(/no petstore-mock answers at http/);
  });
});
