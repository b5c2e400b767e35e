import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../src/cli/command-parser.ts';
import { readFlags } from '../../src/cli/flag-sources.ts';
import { listFlagsFrom, spell } from '../../src/cli/flags.ts';
import { serveSettings } from '../../src/cli/start-server.ts';
import { FEATURES } from '../../src/features.ts';
import type { ServerOptions } from '../../src/index.ts';
import { listAgreed } from '../../src/server/options.ts';
import { UsageError } from '../../src/terminal/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const folder = temporaryFolder();
const file = join(folder, 'mock.json');

interface Places {
  args?: string[];
  /** Variables without their prefix. */
  env?: Record<string, string>;
  /** An object, or the text of the file. */
  config?: object | string;
}

/** The options of a server that is started so. */
async function settingsOf({ args = [], env = {}, config }: Places) {
  if (config !== undefined) {
    writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  }
  const words = config === undefined ? args : [...args, '--config', file];
  const variables = Object.entries(env).map(([name, text]) => [`PETSTORE_MOCK_${name}`, text]);
  const parsed = await parseCommandLine(words, 80);
  if (typeof parsed === 'string') throw new Error(`It prints ${parsed}`);
  const { command, flags } = parsed;
  return serveSettings(await readFlags(command, flags, Object.fromEntries(variables)));
}

/** The message of the error, with FILE for the config file's path. */
async function refusalOf(places: Places): Promise<string> {
  const error: unknown = await settingsOf(places).catch((reason: unknown) => reason);
  if (!(error instanceof UsageError)) throw new Error('No UsageError.', { cause: error });
  return error.message.replaceAll(file, 'FILE');
}

test('without flags, a server gets no options but its address', async () => {
  const settings = await settingsOf({});
  expect(settings).toEqual({ host: '127.0.0.1', port: 4010, assume: {}, keys: {} });
});

test.each<[ServerOptions, Places]>([
  [{}, {}],
  [{ assume: {}, keys: { any: false }, frozen: false, journal: 1000 }, {}],
  [{ upstream: 'http://a.test/v1' }, { args: ['--upstream', 'http://a.test/v1'] }],
  [{ keys: { valid: ['a'] } }, { args: ['--key', 'a'] }],
])(
  'a server of the library with %j is of the same fleet as one of the command',
  async (options, place) => {
    const agreed = listAgreed(await settingsOf(place), FEATURES);
    expect(agreed).toStrictEqual(listAgreed(options, FEATURES));
  },
);

describe('every flag of serve can come from the command line, the environment or a file', () => {
  // biome-ignore format: a row for each
  const rows: [object, ...Places[]][] = [
    [{ port: 8080 }, { args: ['--port', '8080'] }, { args: ['-port', '1', '--port', '8080'] }, { args: ['--plain', 'run', '--port', '8080'] }, { env: { PORT: '8080' } }, { config: { port: 8080 } }],
    [{ plain: true }, { args: ['--plain'] }, { env: { PLAIN: '1' } }, { config: { plain: true } }],
    [{ keys: { valid: ['a', 'b'] } }, { args: ['--key', 'a', '--key', 'b'] }, { env: { KEY: 'a, b,' } }, { config: { key: ['a', 'b'] } }],
    [{ noControl: true }, { args: ['--no-control', '--no-control'] }, { env: { NO_CONTROL: '1' } }, { config: { 'no-control': true } }],
    [{ assume: { 'cancel-again': '404', cors: 'absent' } }, { args: ['--assume', 'cancel-again=404', '--assume', 'cors=absent'] }, { env: { ASSUME: 'cancel-again=404,cors=absent' } }, { config: { assume: ['cancel-again=404', 'cors=absent'] } }, { config: { assume: { 'cancel-again': '404', cors: 'absent' } } }],
    [{ assume: { 'rate-limit': '5/s' } }, { args: ['--rate-limit', '5/s', '--assume', 'rate-limit=6/s'] }, { env: { RATE_LIMIT: '5/s' } }, { config: { 'rate-limit': '5/s' } }],
    [{ sandboxIdle: 30 * 86_400_000 }, { args: ['--sandbox-idle', 'P30D'] }],
    [{ clock: Date.UTC(2030, 11, 6), frozen: true }, { args: ['--clock', '2030-12-06T01:00:00+01:00', '--freeze'] }, { env: { CLOCK: '2030-12-06T00:00:00Z', FREEZE: '1' } }, { config: { clock: '2030-12-06T00:00:00.000Z', freeze: true } }],
  ];
  test.each(rows)('%j', async (expected, ...places) => {
    for (const place of places)
      expect(await settingsOf(place), JSON.stringify(place)).toMatchObject(expected);
  });
});

describe('a flag wins over a variable, a variable over the file, the file over the default', () => {
  const [args, env, config] = [['--port', '3'], { PORT: '4' }, { port: 5 }];
  test.each<[object, Places]>([
    [{ port: 3 }, { args, env, config }],
    [{ port: 4 }, { env, config }],
    [{ port: 5 }, { config }],
    [{ port: 4010 }, {}],
    [{ plain: false }, { args: ['--no-plain'], env: { PLAIN: '1' } }],
  ])('%j', async (expected, places) => {
    expect(await settingsOf(places)).toMatchObject(expected);
  });

  test('assumptions are merged, and the place with higher precedence wins', async () => {
    const { assume } = await settingsOf({
      args: ['--assume', 'cancel-again=404', '--rate-limit', '5/s'],
      env: { ASSUME: 'cancel-again=204,cors=absent' },
      config: { assume: { 'rate-limit': '9/m', 'pets-order': 'newest' } },
    });
    const [own, merged] = [{ 'cancel-again': '404', 'rate-limit': '5/s' }, { cors: 'absent' }];
    expect(assume).toEqual({ ...own, ...merged, 'pets-order': 'newest' });
  });
});

test('a key and a control token count beside the address of a running server', async () => {
  const running = { URL: 'http://127.0.0.1:4010/v1', CA: '/ca.pem' };
  const settings = await settingsOf({ env: { ...running, KEY: 'own', CONTROL_TOKEN: 'mine' } });
  expect(settings).toMatchObject({ keys: { valid: ['own'] }, controlToken: 'mine' });
});

test('a value can begin with a dash', async () => {
  const args = ['--control-token', '-abc', '--key', '-k', '--plain'];
  expect(await settingsOf({ args })).toMatchObject({
    controlToken: '-abc',
    keys: { valid: ['-k'] },
    plain: true,
  });
});

test('a negative number is a word, as the id of a record can be', async () => {
  const { positionals } = Object(await parseCommandLine(['ctl', 'get', 'pets', '-5'], 80));
  expect(positionals).toEqual(['get', 'pets', '-5']);
});

test.each([
  ['an empty variable', { PORT: '' }],
  ['a variable that resembles no flag', { URL: 'http://127.0.0.1:4010/v1' }],
  ['the link that Kubernetes sets for a service', { PORT: 'tcp://10.0.0.1:4010' }],
])('%s is ignored', async (_what, env) => {
  expect(await settingsOf({ env })).toEqual(await settingsOf({}));
});

test('a relative path in a config file starts from its folder; names of shipped files stay', async () => {
  const config = { fixture: './store.json', scenario: ['slow', 'mine.yaml', '/a/b.yaml'], db: 'x' };
  expect(await settingsOf({ config })).toMatchObject({
    fixture: join(folder, 'store.json'),
    scenarios: ['slow', join(folder, 'mine.yaml'), '/a/b.yaml'],
    db: join(folder, 'x'),
  });
  expect(await settingsOf({ config: { fixture: 'default' } })).toMatchObject({
    fixture: 'default',
  });
});

test('a config file can say what a check of a deployment found out', async () => {
  const checked = {
    deployment: 'https://staging.example/v1',
    at: '2026-11-22T09:00:00.000Z',
    assumptions: [{ id: 'cancel-again', verdict: 'settled', option: '404', why: 'DELETE' }],
    replies: [{ operation: 'getPet', status: 200, verdict: 'as-documented' }],
  };
  const config = { assume: { 'cancel-again': '404' }, checked };
  expect(await settingsOf({ config })).toMatchObject(config);
  const verdict = await refusalOf({ config: { checked: { ...checked, assumptions: [{}] } } });
  expect(verdict).toMatch('config file FILE:1:102: $.checked.assumptions[0].id: expected ');
});

describe('each error names the place, the expected value and the nearest valid word', () => {
  const port = 'an integer from 0 to 65535';
  const fileFlags = `${listFlagsFrom('config').map(spell).join(', ')} or checked`;
  // biome-ignore format: a row for each
  const onCommandLine: [words: string, message: string][] = [
    ['--prot 80', 'serve has no flag --prot (did you mean --port?); petstore-mock --help lists its flags'],
    ['--json', '--json is a flag of assumptions, not of serve; petstore-mock --help lists its flags'],
    ['run -- npm test', 'serve takes only flags, no command; did you mean petstore-mock exec -- npm test?'],
    ['exec --port 0 pytest -v', 'exec needs `--` before the command: petstore-mock exec --port 0 -- pytest -v'],
    ['exec mvn -h', 'exec needs `--` before the command: petstore-mock exec -- mvn -h'],
    ['exec jest --coverage -- x', 'exec needs `--` before the command: petstore-mock exec -- jest --coverage -- x'],
    ['--plain sweep go --help', 'sweep needs `--` before the command: petstore-mock --plain sweep -- go --help'],
    ['exec --prot 80 pytest -v', 'exec has no flag --prot (did you mean --port?); petstore-mock exec --help lists its flags'],
    ['exec', 'exec needs `--` and a command, as in petstore-mock exec -- npm test'],
    ['serve x', 'serve takes no words; found "x"'],
    ['assumptions cors x', 'assumptions takes [ID]; found "cors x"'],
    ['--scenario slow,flaky', '--scenario: expected one scenario, found "slow,flaky" (repeat the flag for several: --scenario slow --scenario flaky)'],
    ['--port', '--port needs a value (N)'],
    ['--constructor', 'serve has no flag --constructor (did you mean --control-token?); petstore-mock --help lists its flags'],
    ['--port 65536', `--port: expected ${port}, found 65536`],
    ['--plain=yes', '--plain: expected true or false, found "yes"'],
    ['--assume cancel-agian=404', '--assume: expected an assumption that "petstore-mock assumptions" lists, found "cancel-agian" (did you mean cancel-again?)'],
    ['--animals 5 --fixture default', '--animals and --fixture exclude each other: drop one of them'],
    ['--db x.json --shared redis://127.0.0.1', '--shared and --db exclude each other: drop one of them'],
    ['--shared http://me:secret@127.0.0.1', '--shared: expected redis://[USER:PASSWORD@]HOST[:PORT][/DB][#NAME] or rediss://…, found something else'],
  ];
  // biome-ignore format: a row for each
  const elsewhere: [Places, string][] = [
    [{ env: { PORT: '80a' } }, `environment variable PETSTORE_MOCK_PORT: expected ${port}, found "80a"`],
    [{ env: { PROT: '80' } }, 'environment variable PETSTORE_MOCK_PROT matches no flag (did you mean PETSTORE_MOCK_PORT?)'],
    [{ config: { prot: 80 } }, `config file FILE:1:2: $.prot: expected ${fileFlags}, found "prot" (did you mean port?)`],
    [{ config: '{\n  "port": 80,\n}' }, "config file FILE:3:1: expected JSON: Quoted object key expected but got '}'"],
  ];
  test.each([
    ...onCommandLine.map(([words, message]) => [{ args: words.split(' ') }, message] as const),
    ...elsewhere,
  ])('%j', async (places, message) => {
    expect(await refusalOf(places)).toBe(message);
  });
});
