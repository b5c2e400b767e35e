import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.ts';
import { readCommandLine } from '../../src/cli/command-line.ts';
import { type Flags, flagsFrom, spellingOf } from '../../src/cli/flags.ts';
import { readFlags } from '../../src/cli/read-flags.ts';
import { serveSettings } from '../../src/cli/start-server.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const folder = temporaryFolder();
const file = join(folder, 'mock.json');

interface Places {
  args?: string[];
  env?: Record<string, string>;
  /** An object, or the text of the file. */
  config?: object | string;
}

async function givenIn({ args = [], env = {}, config }: Places): Promise<Flags> {
  if (config !== undefined) {
    writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  }
  const words = config === undefined ? args : [...args, '--config', file];
  return readFlags(readCommandLine(words), env);
}

async function settingsOf(places: Places) {
  return serveSettings(await givenIn(places));
}

/** The message of the error, with FILE for the config file's path. */
async function refusalOf(places: Places): Promise<string> {
  const error: unknown = await settingsOf(places).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof UsageError))
    throw new Error('No UsageError was thrown.', { cause: error });
  return error.message.replaceAll(file, 'FILE');
}

test('without flags, a server gets no options but its address', async () => {
  const settings = await settingsOf({});
  expect(settings).toEqual({ host: '127.0.0.1', port: 4010, assume: {}, keys: {} });
});

describe('every flag of serve can come from the command line, the environment or a file', () => {
  const same: [string, Places[], object][] = [
    [
      'an integer',
      [
        { args: ['--port', '8080'] },
        { args: ['-port', '8080'] },
        { args: ['--plain', 'run', '--port', '8080'] },
        { env: { PETSTORE_MOCK_PORT: '8080' } },
        { config: { port: 8080 } },
      ],
      { port: 8080 },
    ],
    [
      'a switch',
      [{ args: ['--plain'] }, { env: { PETSTORE_MOCK_PLAIN: '1' } }, { config: { plain: true } }],
      { plain: true },
    ],
    [
      'a list',
      [
        { args: ['--key', 'a', '--key', 'b'] },
        { env: { PETSTORE_MOCK_KEY: 'a, b,' } },
        { config: { key: ['a', 'b'] } },
      ],
      { keys: { valid: ['a', 'b'] } },
    ],
    [
      'a switch whose name begins with no',
      [
        { args: ['--no-control'] },
        { args: ['--no-control', '--no-control'] },
        { env: { PETSTORE_MOCK_NO_CONTROL: '1' } },
        { config: { 'no-control': true } },
      ],
      { noControl: true },
    ],
    [
      'assumptions',
      [
        { args: ['--assume', 'cancel-again=404', '--assume', 'cors=absent'] },
        { env: { PETSTORE_MOCK_ASSUME: 'cancel-again=404,cors=absent' } },
        { config: { assume: ['cancel-again=404', 'cors=absent'] } },
        { config: { assume: { 'cancel-again': '404', cors: 'absent' } } },
      ],
      { assume: { 'cancel-again': '404', cors: 'absent' } },
    ],
    [
      'the shorthand of an assumption',
      [
        { args: ['--rate-limit', '5/s'] },
        { args: ['--rate-limit', '5/s', '--assume', 'rate-limit=6/s'] },
        { env: { PETSTORE_MOCK_RATE_LIMIT: '5/s' } },
        { config: { 'rate-limit': '5/s' } },
      ],
      { assume: { 'rate-limit': '5/s' } },
    ],
    [
      'an instant',
      [
        { args: ['--clock', '2030-12-06T01:00:00+01:00', '--freeze'] },
        { env: { PETSTORE_MOCK_CLOCK: '2030-12-06T00:00:00Z', PETSTORE_MOCK_FREEZE: '1' } },
        { config: { clock: '2030-12-06T00:00:00.000Z', freeze: true } },
      ],
      { clock: Date.UTC(2030, 11, 6), frozen: true },
    ],
  ];
  const cases = same.flatMap(([what, places, expected]) =>
    places.map((place) => ({ what, place, expected, given: JSON.stringify(place) })),
  );
  test.each(cases)('$what: $given', async ({ place, expected }) => {
    expect(await settingsOf(place)).toMatchObject(expected);
  });
});

describe('a flag wins over a variable, a variable over the file, the file over the default', () => {
  const args = ['--port', '3'];
  const env = { PETSTORE_MOCK_PORT: '4' };
  const config = { port: 5 };
  test.each([
    { places: { args, env, config }, port: 3 },
    { places: { env, config }, port: 4 },
    { places: { config }, port: 5 },
    { places: {}, port: 4010 },
  ])('port $port', async ({ places, port }) => {
    expect(await settingsOf(places)).toMatchObject({ port });
  });

  test('--no-plain overrides a variable that turns it on', async () => {
    const places = { args: ['--no-plain'], env: { PETSTORE_MOCK_PLAIN: '1' } };
    expect(await settingsOf(places)).toMatchObject({ plain: false });
  });

  test('assumptions are merged, and the place with higher precedence wins', async () => {
    const { assume } = await settingsOf({
      args: ['--assume', 'cancel-again=404', '--rate-limit', '5/s'],
      env: { PETSTORE_MOCK_ASSUME: 'cancel-again=204,cors=absent' },
      config: { assume: { 'rate-limit': '9/m', 'pets-order': 'newest' } },
    });
    expect(assume).toEqual({
      'cancel-again': '404',
      cors: 'absent',
      'rate-limit': '5/s',
      'pets-order': 'newest',
    });
  });
});

test('a key and a control token count beside the address of a running server', async () => {
  const env = {
    PETSTORE_MOCK_URL: 'http://127.0.0.1:4010/v1',
    PETSTORE_MOCK_KEY: 'own-key',
    PETSTORE_MOCK_CONTROL_TOKEN: 'own-token',
    PETSTORE_MOCK_CA: '/ca.pem',
  };
  expect(await settingsOf({ env })).toMatchObject({
    keys: { valid: ['own-key'] },
    controlToken: 'own-token',
  });
});

describe('variables that are not flags are ignored', () => {
  test.each([
    ['an empty variable', { PETSTORE_MOCK_PORT: '' }],
    ['a variable of another program', { PORT: '80', PETSTORE: 'x' }],
    ['a variable that resembles no flag', { PETSTORE_MOCK_URL: 'http://127.0.0.1:4010/v1' }],
    ['the link that Kubernetes sets for a service', { PETSTORE_MOCK_PORT: 'tcp://10.0.0.1:4010' }],
  ])('%s', async (_what, env) => {
    expect(await settingsOf({ env })).toEqual(await settingsOf({}));
  });
});

test('a relative path in a config file starts from its folder; names of shipped files stay', async () => {
  expect((await settingsOf({ config: { fixture: './store.json' } })).fixture).toBe(
    join(folder, 'store.json'),
  );
  expect((await settingsOf({ config: { fixture: 'default' } })).fixture).toBe('default');
  const config = { scenario: ['slow', 'mine.yaml', '/else/where.yaml'], db: 'store' };
  expect(await settingsOf({ config })).toMatchObject({
    scenarios: ['slow', join(folder, 'mine.yaml'), '/else/where.yaml'],
    db: join(folder, 'store'),
  });
});

test('a config file can say what a check of a deployment found out', async () => {
  const checked = {
    deployment: 'https://staging.example/v1',
    at: '2026-11-22T09:00:00.000Z',
    assumptions: [{ id: 'cancel-again', verdict: 'settled', option: '404', why: 'DELETE' }],
  };
  const config = { assume: { 'cancel-again': '404' }, checked };
  expect(await settingsOf({ config })).toMatchObject(config);
  const verdict = await refusalOf({ config: { checked: { ...checked, assumptions: [{}] } } });
  expect(verdict).toMatch('config file FILE:1:102: $.checked.assumptions[0].id: expected ');
});

describe('each error names the place, the expected value and the nearest valid word', () => {
  const port = 'an integer from 0 to 65535';
  const assumption = 'an assumption that "petstore-mock assumptions" lists';
  const fileFlags = `${flagsFrom('config').map(spellingOf).join(', ')} or checked`;
  const refused: [Places, string][] = [
    [
      { args: ['--prot', '80'] },
      'serve has no flag --prot (did you mean --port?); petstore-mock --help lists its flags',
    ],
    [
      { args: ['--json'] },
      '--json is a flag of assumptions, not of serve; petstore-mock --help lists its flags',
    ],
    [
      { args: ['run', '--', 'npm', 'test'] },
      'serve takes only flags, no command; did you mean petstore-mock exec -- npm test?',
    ],
    [
      { args: ['exec', 'sh', '-c', 'true'] },
      'exec: expected -- and a command, as in petstore-mock exec -- npm test, found "sh"',
    ],
    [
      { args: ['--scenario', 'slow,flaky'] },
      '--scenario: expected one scenario, found "slow,flaky" (repeat the flag for several: --scenario slow --scenario flaky)',
    ],
    [{ args: ['--port'] }, '--port needs a value (N)'],
    [
      { args: ['--port', '1', '--port', '2'] },
      '--port can be given only once, but was given 2 times: "1", "2"',
    ],
    [{ args: ['--port', '65536'] }, `--port: expected ${port}, found 65536`],
    [
      { env: { PETSTORE_MOCK_PORT: '80a' } },
      `environment variable PETSTORE_MOCK_PORT: expected ${port}, found "80a"`,
    ],
    [{ args: ['--plain=yes'] }, '--plain: expected true or false, found "yes"'],
    [
      { args: ['--assume', 'cancel-agian=404'] },
      `--assume: expected ${assumption}, found "cancel-agian" (did you mean cancel-again?)`,
    ],
    [
      { args: ['--animals', '5', '--fixture', 'default'] },
      '--animals generates a store and --fixture names one: drop --animals to start from the fixture, or --fixture to generate',
    ],
    [
      { args: ['--db', 'x.json', '--shared', 'redis://127.0.0.1'] },
      '--db is for a single server and --shared for several: drop one of them',
    ],
    [
      { args: ['--shared', 'http://me:secret@127.0.0.1'] },
      '--shared: expected redis://[USER:PASSWORD@]HOST[:PORT][/DB] or rediss://…, found something else',
    ],
    [
      { env: { PETSTORE_MOCK_PROT: '80' } },
      'environment variable PETSTORE_MOCK_PROT matches no flag (did you mean PETSTORE_MOCK_PORT?)',
    ],
    [
      { config: { prot: 80 } },
      `config file FILE:1:2: $.prot: expected ${fileFlags}, found "prot" (did you mean port?)`,
    ],
    [
      { config: '{\n  "port": 80,\n}' },
      "config file FILE:3:1: expected JSON: Quoted object key expected but got '}'",
    ],
  ];
  test.each(refused)('%j', async (places, message) => {
    expect(await refusalOf(places)).toBe(message);
  });
});
