import type { Scenario } from '../../scenario/scenario.ts';
import type { RunningServer } from '../../server.ts';
import { type KeyLists, keyring } from '../../service/keyring.ts';

/** The variables that tell a command about the server it runs beside. */
const VARIABLES = {
  url: 'PETSTORE_MOCK_URL',
  key: 'PETSTORE_MOCK_KEY',
  controlUrl: 'PETSTORE_MOCK_CONTROL_URL',
  controlToken: 'PETSTORE_MOCK_CONTROL_TOKEN',
} as const;

/** The settings of the server that a client must know. */
export interface Served {
  readonly keys?: KeyLists | undefined;
  readonly noControl?: boolean | undefined;
}

/** The environment of a command: ours, plus how to reach the server. */
export function commandEnvironment(
  server: Pick<RunningServer, 'url' | 'controlToken'>,
  { keys = {}, noControl = false }: Served,
  scenarios: readonly Pick<Scenario, 'keys'>[],
  inherited: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const lists: KeyLists = Object.assign({}, keys, ...scenarios.map((it) => given(it.keys)));
  const control = noControl
    ? {}
    : {
        [VARIABLES.controlUrl]: new URL('/__mock', server.url).href,
        [VARIABLES.controlToken]: server.controlToken,
      };
  const told = { [VARIABLES.url]: server.url, [VARIABLES.key]: keyOf(lists), ...control };
  // Inherited values are about another server, around this one.
  const none = Object.fromEntries(Object.values(VARIABLES).map((name) => [name, undefined]));
  return { ...inherited, ...none, ...told };
}

/** A key that the server accepts; if a scenario refuses them all, the one it would accept. */
function keyOf(lists: KeyLists): string {
  const [listed = 'demo-key'] = lists.valid ?? [];
  return workingKey(lists) ?? listed;
}

/** A key that a server accepts; undefined if there is none. */
export function workingKey(lists: KeyLists): string | undefined {
  const { valid, readOnly, invalid, any } = keyring(lists);
  const candidates = [...valid, ...readOnly, ...(any ? ['any-key'] : [])];
  return invalid === 'all' ? undefined : candidates.find((key) => !invalid.has(key));
}

function given(lists: KeyLists): KeyLists {
  return Object.fromEntries(Object.entries(lists).filter(([, value]) => value !== undefined));
}
