import { request } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { OPERATION_IDS } from '../../../src/core/contract/operations.ts';
import { writeJson } from '../../../src/core/json.ts';
import { RULE_SHAPE } from '../../../src/core/scenario/rule-shape.ts';
import type { ListedExchange } from '../../../src/features/dashboard/state/session.ts';
import { type RunningCommand, startCommand } from '../../helpers/command.ts';
import { runProgram } from '../../helpers/program.ts';

// What the page does without showing anything, over a server, with as much of a browser as it needs.

type Page = Awaited<ReturnType<typeof openPage>>;

let page: Page;
let server: RunningCommand;
const send = globalThis.fetch;
/** What the browser calls when the part of the address behind `#` changes. */
let onHashChange = (): void => {};

/** What a tab keeps. Its keys are those of the object, as in a browser. */
const STORAGE = {
  getItem(this: Record<string, string>, name: string) {
    return this[name] ?? null;
  },
  setItem(this: Record<string, string>, name: string, value: string) {
    this[name] = value;
  },
  removeItem(this: Record<string, string>, name: string) {
    delete this[name];
  },
};

/** What a client does. */
function ask(method: string, target: string, body?: object): Promise<Response> {
  const headers = {
    Authorization: 'Bearer demo-key',
    'Content-Type': 'application/json',
    'X-A': "it's",
  };
  const sent = { method, headers, ...(body && { body: writeJson(body) }) };
  return send(new URL(target, server.url), sent);
}

async function openPage() {
  const all = await Promise.all([
    import('../../../src/features/dashboard/state/completion.ts'),
    import('../../../src/features/dashboard/state/rules.ts'),
    import('../../../src/features/dashboard/state/route.ts'),
    import('../../../src/features/dashboard/state/requests.ts'),
    import('../../../src/features/dashboard/state/records.ts'),
    import('../../../src/features/dashboard/state/scenarios.ts'),
    import('../../../src/features/dashboard/state/session.ts'),
    import('../../../src/features/dashboard/state/resource.ts'),
    import('../../../src/features/dashboard/state/settings.ts'),
    import('../../../src/features/dashboard/state/journal.ts'),
  ]);
  const [completion, rules, route, requests, records, scenarios, ...others] = all;
  const [session, resource, settings, journal] = others;
  const views = { ...completion, ...rules, ...route, ...requests, ...records, ...scenarios };
  return { ...views, ...session, ...resource, ...settings, ...journal };
}

beforeAll(async () => {
  server = await startCommand(['--port', '0', '--log', 'off']);
  const { origin } = new URL(server.url);
  const location = { origin, pathname: '/__mock/', hash: '' };
  const replaceState = (_data: null, _unused: string, hash: string) => {
    location.hash = hash;
  };
  vi.stubGlobal('location', location);
  vi.stubGlobal('history', { replaceState });
  vi.stubGlobal('navigator', { userAgent: 'Linux' });
  vi.stubGlobal('addEventListener', (_name: string, listener: () => void) => {
    onHashChange = listener;
  });
  vi.stubGlobal('sessionStorage', Object.create(STORAGE));
  vi.stubGlobal('fetch', (path: string, options: RequestInit) =>
    send(new URL(path, origin), options),
  );
  page = await openPage();
});

afterAll(() => {
  vi.unstubAllGlobals();
  return server.stop();
});

async function latest(): Promise<ListedExchange> {
  const query = { order: 'desc', limit: 1 } as const;
  const { exchanges } = await page.client.call('GET /requests', { query });
  const [exchange] = exchanges;
  if (exchange === undefined) throw new Error('no exchange');
  return exchange;
}

test('an exchange becomes a rule, which gives the same request the edited reply', async () => {
  const body = { name: 'Rex', categoryId: 9_007_199_254_740_993n };
  await ask('POST', '/v1/pets?a=b', body);
  const { number } = await latest();
  const yaml = await page.client.text('GET /requests/{number}/rule', { path: { number } });
  const [rule] = page.readRules(yaml);
  if (rule === undefined) throw new Error('no rule');
  expect(page.parseRule(page.formatRule(rule))).toEqual(rule);
  const texts = new Map([
    ...page.formatRule(rule),
    ...([
      ['where', "name: Rex\ncategoryId: 9007199254740993\nheaders: { x-a: it's }"],
      ['reply.status', '409'],
      ['reply.body', ''],
      ['calls', '1'],
    ] as const),
  ]);
  const added = page.parseRule(texts);
  expect(page.describeRule(added)).toBe(
    "POST /pets with name Rex and categoryId 9007199254740993 and header x-a it's gets 409, at call 1.",
  );
  const late = '# Mine.\nrules:\n  # Late.\n  - { on: createPet, delay: 1 }\n';
  const scenario = page.insertRule(late, added);
  expect(page.readRules(scenario)).toEqual([added, { on: 'createPet', delay: 1n }]);
  const fields = [
    ['on', 'createPet'],
    ['delay', '2'],
  ] as const;
  const edited = page.insertRule(late, page.parseRule(new Map(fields)), 0);
  expect(edited).toBe('# Mine.\nrules:\n  # Late.\n  - on: createPet\n    delay: 2\n');
  expect(
    page.findHiddenRules(page.readRules(page.insertRule(edited, { on: '*', delay: 1 }))),
  ).toEqual(['Rule 2 never applies: rule 1 takes its calls.']);
  await page.saveScenario('mine', scenario, { turnOn: true, etag: undefined });
  const near = { ...body, categoryId: 9_007_199_254_740_992n };
  for (const [sent, status] of [
    [near, 201],
    [body, 409],
    [body, 201],
  ] as const) {
    expect((await ask('POST', '/v1/pets', sent)).status).toBe(status);
  }
});

test('the form has a field for each member of a rule, and loses none of it', async () => {
  const fields = page.listRuleFields(await page.loadSchema());
  const members = RULE_SHAPE.schema.properties;
  const named = new Set(fields.map(({ path }) => path.split('.')[0]));
  expect([...named].sort()).toEqual(Object.keys(Object(members)).sort());
  expect(fields.find(({ path }) => path === 'patch.items')).toMatchObject({ kind: 'lines' });
  expect(fields.find(({ path }) => path === 'on')?.values).toEqual([...OPERATION_IDS]);
  const rules = [
    { on: ['listPets', 'listOrders'], delay: { min: 5n, max: 9n }, hold: 'mine' },
    {
      on: '*',
      where: { key: ['a', 'b'] },
      calls: '2,4',
      chance: 0.5,
      fault: { kind: 'slow-body' },
    },
    {
      on: 'getPet',
      patch: { status: 203n, headers: { a: null }, each: { name: null } },
      lag: 'PT2S',
    },
    { on: 'getPet', reply: { status: 200n, body: '12', empty: true }, apply: true },
    { on: 'getPet', calls: 'every 3', hold: true },
  ];
  for (const rule of rules) expect(page.parseRule(page.formatRule(rule))).toEqual(rule);
  expect(rules.map((rule) => page.describeRule(rule))).toEqual([
    'GET /pets or GET /store/orders answers after 5 to 9 ms once it is released, at every call.',
    'Each call with key a or b gets the fault slow-body, at calls 2,4 with a chance of 0.5.',
    'GET /pets/{petId} gets the real reply, changed to 203 from the store of PT2S ago, at every call.',
    'GET /pets/{petId} gets 200 with a body of its own, at every call.',
    'GET /pets/{petId} answers once it is released, at calls 3, 6, 9 ….',
  ]);
  expect(() => page.parseRule(new Map([['where', '{ petId: 7']]))).toThrow(/^where: Flow map/);
});

test.each([
  ['|', 'description: ', 'rules: '],
  ['rules:\n  - |', 'on: ', 'where: ', 'patch: '],
  ['rules:\n  - on: listP|', 'listPets'],
  ['rules:\n  - on: [listPets, g|]', 'getPet'],
  ['rules:\n  - on: listPets\n    repl|', 'reply: '],
  ['rules:\n  - on: listPets\n    reply: { | }', 'status: ', 'headers: ', 'body: '],
  ['rules:\n  - on: listPets\n    reply:\n      st|: 409', 'status'],
  ['rules:\n  - { on: listPets, reply: { status: 4| } }', '404', '409'],
  ['rules:\n  - on: listPets\n    fault: malf|\n  - on: getPet', 'malformed-json'],
  ['assume:\n  cancel-ag|', 'cancel-again: '],
  ['assume:\n  cancel-again: 4|', '409', '404'],
  ['state:\n  orders:\n    - id: 1\n      status: ship|', 'shipped'],
  ['extends: sold|', 'sold-out'],
])('what can stand at the caret of %j is known from the schema', async (marked, ...expected) => {
  const caret = marked.indexOf('|');
  const schema = await page.loadSchema();
  const { items } = page.complete(marked.replace('|', ''), caret, schema, ['sold-out']);
  expect(items.map(({ text }) => text)).toEqual(expect.arrayContaining(expected));
});

test('an exchange becomes a request, which can be copied, and sent and opened', async () => {
  await ask('DELETE', '/v1/store/orders/2?a=b%20c');
  const exchange = await latest();
  expect(page.whyNotCopied(exchange)).toBeUndefined();
  const request = page.copyRequest(exchange);
  await runProgram('bash', ['-c', page.formatCurlCommand(request)]);
  await runProgram(process.execPath, ['--input-type=module', '-e', page.SNIPPETS.fetch(request)]);
  await page.sendAndOpen(request, exchange.number);
  expect(page.route.value).toMatchObject({ view: 'exchanges', item: `${exchange.number + 3}` });
  expect(page.notice.value?.text).toBe('Sent DELETE /v1/store/orders/2?a=b%20c.');
  await page.sendAgain(exchange);
  expect(page.route.value.item).toBe(`${exchange.number + 4}`);
  expect(await latest()).toMatchObject({ status: 409, replays: exchange.number });
  const { status, request: again } = await latest();
  expect([status, again.headers['x-a']]).toEqual([409, "it's"]);
});

test.each([
  ['GET', '//other.example/v1/pets', undefined],
  ['POST', '/v1/pets', undefined],
  ['GET', 'http://other.example/v1/pets', 'The target of the request is not a path.'],
  ['GET', `/v1/pets?${'a'.repeat(3_000)}`, undefined],
])('%s %.40s is copied as it was sent, or not at all', async (method, target, whyNot) => {
  const { port, origin } = new URL(server.url);
  await new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method, path: target };
    const sent = request(options, (reply) => reply.resume().on('end', resolve));
    sent.on('error', reject).end(method === 'POST' ? '@/etc/hostname' : undefined);
  });
  const exchange = await latest();
  expect(page.whyNotCopied(exchange)).toBe(whyNot);
  const curl = page.formatCurlCommand(page.copyRequest(exchange));
  if (whyNot === undefined) expect(curl).toContain(`${origin}${target}`);
  if (method === 'POST') expect(curl).toContain(" --data-raw '@/etc/hostname'");
});

test('a request gets a key that works in the sandbox', async () => {
  expect(page.firstRequest().key).toBe('demo-key');
  await ask('PUT', '/__mock/scenario', { scenario: { keys: { valid: ['own-key'] } } });
  await page.readStatus(AbortSignal.timeout(10_000));
  expect(page.firstRequest().key).toBe('own-key');
  await ask('PUT', '/__mock/scenario', { scenarios: [] });
  await page.readStatus(AbortSignal.timeout(10_000));
});

test('a place has an address, whose query can be refined', () => {
  page.go('store', 'a/b', new URLSearchParams({ q: 'x' }));
  expect(location.hash).toBe('#/store/a%2Fb?q=x');
  page.refine({ q: '', sort: 'name' });
  expect(location.hash).toBe('#/store/a%2Fb?sort=name');
  expect(page.route.value.item).toBe('a/b');
});

test('a step back leads to the view of the address, and a link in the page to none', () => {
  location.hash = '#/findings';
  onHashChange();
  expect(page.route.value.view).toBe('findings');
  location.hash = '#content';
  onHashChange();
  expect(location.hash).toBe('#/findings');
});

const ship = (id: number) => {
  const input = { path: { id }, body: { status: 'shipped' } } as const;
  return page.perform(`Shipped ${id}.`, 'PATCH /orders/{id}', input);
};

/** Undoes the last change of the page, and answers the question whether what came later may go. */
async function undoAnd(answer: boolean, asked: RegExp): Promise<void> {
  const undone = page.lastChange.value?.undo?.();
  await expect.poll(() => page.question.value?.text).toMatch(asked);
  page.question.value?.answer(answer);
  page.question.value = undefined;
  await undone;
}

const statusOf = async (id: number) =>
  (await page.client.call('GET /orders/{id}', { path: { id } })).status;

test('a change of the page can be undone, but asks about later calls and spares what others changed', async () => {
  expect(await ship(4)).toBe(true);
  const told = 'Shipped 4. Records changed: 1 in orders.';
  await expect.poll(() => page.lastChange.value?.text).toBe(told);
  await ask('PATCH', '/v1/inventory/3', { quantity: 5 });
  await undoAnd(false, /with it what 1 later call changed\.$/);
  expect(await statusOf(4)).toBe('shipped');
  await undoAnd(true, /1 later call/);
  expect([await statusOf(4), page.lastChange.value]).toEqual(['pending', undefined]);
  expect(page.notice.value?.text).toMatch(/^Undone: /);
  await ship(5);
  await expect.poll(() => page.lastChange.value?.text).toMatch('Shipped 5.');
  await ask('PATCH', '/__mock/orders/9', { status: 'shipped' });
  await page.lastChange.value?.undo?.();
  expect(page.notice.value?.text).toMatch(/^Not undone: .* since\. Undo takes that back first\.$/);
  await page.notice.value?.undo?.();
  expect([await statusOf(5), await statusOf(9)]).toEqual(['shipped', 'pending']);
});

test('calls are sent again up to one that cannot be, and all of them are taken back at once', async () => {
  await ask('DELETE', '/v1/store/orders/7');
  const { number } = await latest();
  await ask('PATCH', '/v1/inventory/4', { quantity: 1 });
  await page.replayFrom(number);
  const again = `Sent 2 calls again, from exchange ${number}, on the present store.`;
  expect(page.lastChange.value).toMatchObject({ kind: 'done', text: again });
  await page.lastChange.value?.undo?.();
  expect(page.notice.value?.text).toMatch(/^Took back what exchanges \d+ to \d+ changed\.$/);
  const [next, last] = await Promise.all([
    page.findNeighbour(number, 'newer', ''),
    page.findNeighbour(number, 'older', 'method:NONE'),
  ]);
  expect([next.next?.number, next.isLatest, last.next]).toEqual([number + 1, true, undefined]);
});

test('what is wrong with an input stands at its field, and the rest in the notice', async () => {
  const send = (body: object) =>
    page.perform('Set.', 'PATCH /inventory/{id}', { path: { id: 3 }, body: Object(body) });
  expect(await send({ quantity: 'two', status: null })).toBe(false);
  const places = [...page.takeProblems(['quantity', 'status'])];
  expect(places).toContainEqual(['quantity', 'Expected an integer, found "two".']);
  expect(page.sayPlace('$.rules[0].reply.status: no')).toBe('rule 1, reply, status: no');
  expect(await send({ other: 1 })).toBe(false);
  expect(page.takeProblems(['quantity']).size).toBe(0);
  expect(page.notice.value).toMatchObject({ kind: 'failed', text: expect.stringMatching(/other/) });
});

test('a choice stands at once, until the server has it or refuses it', async () => {
  const { signal } = new AbortController();
  const conflict = { id: 'cancel-again', default: '409' };
  await page.readStatus(signal);
  const chosen = page.chooseOption(conflict, '404', 'Chosen.');
  expect(page.optionOf(conflict)).toBe('404');
  expect(await chosen).toBe(true);
  await page.readStatus(signal);
  expect(page.optionOf(conflict)).toBe('404');
  const refused = page.chooseOption(conflict, '418', 'Chosen.');
  expect([page.optionOf(conflict), await refused]).toEqual(['418', false]);
  expect([page.optionOf(conflict), page.notice.value?.at]).toEqual(['404', 'cancel-again']);
  const before = Date.now();
  await page.changeClock('Stopped.', { frozen: true });
  await page.changeClock('Later.', { days: 2 });
  await page.readStatus(signal);
  const { value } = page.status;
  expect(value && Math.round((page.readTime(value) - before) / 86_400_000)).toBe(2);
  await page.changeClock('Real.', { real: true });
  expect(page.status.value?.clock).toMatchObject({ real: true, frozen: false });
});

test('scenarios are created, copied, turned on, moved and saved again, and a refused text is kept', async () => {
  const names = async () => {
    const { scenarios } = await page.client.call('GET /scenario');
    return scenarios.map(({ name }) => name).filter((name) => name !== 'mine');
  };
  expect([await page.createScenario('new'), page.route.value.item]).toEqual([true, 'new']);
  expect(await page.createScenario('new')).toBe(false);
  expect(page.notice.value?.text).toBe('new: There is a scenario new already.');
  expect(await page.createScenario('bad', () => 'rule: []')).toBe(false);
  expect([page.listDrafts(), page.readDraft('bad')?.text]).toEqual([['bad'], 'rule: []']);
  page.keepDraft('bad', undefined);
  expect(page.listDrafts()).toEqual([]);
  for (const copy of ['my-new', 'my-new-2']) {
    await page.copyScenario('new', () => 'rules: []');
    expect(page.route.value.item).toBe(copy);
  }
  await Promise.all(['new', 'my-new', 'slow'].map((name) => page.turnScenario(name, true)));
  await page.moveScenario('slow', 'new');
  await page.turnScenario('my-new', false);
  expect(page.notice.value?.text).toBe('Turned off my-new. Changed records stay as they are.');
  expect(await names()).toEqual(['slow', 'new']);
  await page.client.call('PUT /scenario', { body: { scenarios: [] } });
  await page.client.call('DELETE /scenarios/{name}', { path: { name: 'new' } });
  expect(await page.fetchScenario('new')).toEqual({ text: '', etag: undefined });
  page.keepSaved('my-new', undefined);
  await page.saveAgain(['mine', 'my-new-2']);
  expect((await page.fetchScenario('new')).text).toMatch(/^description: Order 1/);
});

test('a server that does not answer is lost, and everything is read again when it is back', async () => {
  const fetch = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed'));
  expect(await ship(1)).toBe(false);
  expect([page.connection.value, page.notice.value?.text]).toEqual([
    'lost',
    'The server does not answer.',
  ]);
  fetch.mockRestore();
  const { value } = page.epoch;
  await page.listEdits();
  expect([page.connection.value, page.epoch.value]).toEqual(['ok', value + 1]);
});

test('an example of an operation is a request in each language, and a record has shortcuts', () => {
  const example = page.exampleRequest('createPet');
  expect(page.shortTarget(example.target)).toBe('/pets');
  for (const write of Object.values(page.SNIPPETS)) expect(write(example)).toContain('/v1/pets');
  expect(page.parseHeaderLines('A: b\n\nX-C:d')).toEqual([
    ['A', 'b'],
    ['X-C', 'd'],
  ]);
  expect(page.parseHeaderLines('no header')).toBeUndefined();
  const labels = (...record: Parameters<typeof page.listShortcuts>) =>
    page.listShortcuts(...record).map(({ label }) => label);
  expect(labels('orders', { id: 1 })).toEqual(['Ship', 'Cancel']);
  expect(labels('orders', { id: 1, status: 'shipped' })).toEqual(['Back to pending']);
  expect(labels('inventory', { petId: 1, quantity: 2 })).toEqual(['Sell out']);
  expect(labels('animals', { id: 1 })).toEqual([]);
});

test('a typed value has every digit, and is what the field holds', () => {
  const values = page.listFields('orders').map((field) => {
    const text = { id: '9223372036854775807', complete: 'true', quantity: 'two' }[field.name];
    return [field.name, page.parseValue(field, text ?? '')];
  });
  const expected = { id: 2n ** 63n - 1n, complete: true, quantity: 'two', shipDate: '' };
  expect(Object.fromEntries(values)).toMatchObject(expected);
});
