import { mockVariables, type ServerToTell, workingKey } from '../../library/mock-variables.ts';
import type { Scenario } from '../../scenario/read-scenario.ts';
import { over } from '../../scenario/sandbox-start.ts';
import type { ServerOptions } from '../../server.ts';
import type { KeyLists } from '../../service/keyring.ts';

/** The environment of a command: ours, plus how to reach the server. */
export function commandEnvironment(
  server: ServerToTell,
  { keys = {}, noControl }: Pick<ServerOptions, 'keys' | 'noControl'>,
  scenarios: readonly Pick<Scenario, 'keys'>[],
  inherited: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const lists = scenarios.reduce<KeyLists>((earlier, it) => over(earlier, it.keys), keys);
  // If scenarios refuse every key, the command still gets the one it would otherwise get.
  const key = workingKey(lists) ?? lists.valid?.[0] ?? 'demo-key';
  return { ...inherited, ...mockVariables(server, key, inherited, noControl) };
}
