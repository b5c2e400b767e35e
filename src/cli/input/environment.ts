import { closest, distance } from 'fastest-levenshtein';
import { MOCK_VARIABLES } from '../../library/mock-variables.ts';
import { UsageError } from '../failures.ts';
import { type FlagName, flagShape, flagsFrom, spellingOf } from '../flags.ts';
import { givenAs, type Layer } from './given.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const PREFIX = 'PETSTORE_MOCK_';

/** A name within this many edits of one of our variables counts as a typo. */
const NEAR = 2;

/** The value of PETSTORE_MOCK_PORT that Kubernetes and Docker links set for a service petstore-mock. */
const SERVICE_LINK = /^(?:tcp|udp):\/\//;

/** The environment variable for a flag. */
export function variableOf(flag: FlagName): string {
  return PREFIX + spellingOf(flag).toUpperCase().replaceAll('-', '_');
}

/** The variables that a surrounding `exec` sets, and that `ctl` reads. */
const OF_RUN: ReadonlySet<string> = new Set(Object.values(MOCK_VARIABLES));

/**
 * The flags in the environment. Ignores empty variables, and those that a surrounding `exec` or
 * `sweep` sets: only these set the address of the control API.
 *
 * @throws UsageError for a variable that is probably a misspelt flag
 */
export function fromEnvironment(variables: Variables): Layer {
  const flags = new Map(flagsFrom('environment').map((flag) => [variableOf(flag), flag]));
  const layer = new Map<FlagName, ReturnType<typeof givenAs>>();
  const isBeside = variables[MOCK_VARIABLES.controlUrl] !== undefined;
  for (const [name, text] of Object.entries(variables)) {
    if (!name.toUpperCase().startsWith(PREFIX) || !text) continue;
    if (isBeside && OF_RUN.has(name)) continue;
    const flag = flags.get(name);
    if (flag === undefined) {
      if (!OF_RUN.has(name)) refuseNearMiss(name, [...flags.keys()]);
    } else if (flag !== 'port' || !SERVICE_LINK.test(text)) {
      layer.set(flag, givenAs(flag, textsOf(flag, text), `environment variable ${name}`));
    }
  }
  return layer;
}

/** The variables that `ctl` reads. The first that is set decides a flag. */
const OF_CTL: readonly (readonly [FlagName, variable: string])[] = [
  ['url', MOCK_VARIABLES.url],
  ['sandbox', variableOf('sandbox')],
  ['token', variableOf('token')],
  ['token', MOCK_VARIABLES.controlToken],
  ['ca', MOCK_VARIABLES.ca],
];

/** The flags of `ctl` in the environment: those that `exec` sets for its command among them. */
export function ctlFromEnvironment(variables: Variables): Layer {
  const layer = new Map<FlagName, ReturnType<typeof givenAs>>();
  for (const [flag, name] of OF_CTL) {
    const text = variables[name];
    if (!text || layer.has(flag)) continue;
    layer.set(flag, givenAs(flag, [text], `environment variable ${name}`));
  }
  return layer;
}

function textsOf(flag: FlagName, text: string): string[] {
  if (flagShape(flag).type !== 'list') return [text.trim()];
  const texts = text.split(',').map((part) => part.trim());
  return texts.filter((part) => part !== '');
}

function refuseNearMiss(name: string, known: readonly string[]): void {
  const nearest = closest(name.toUpperCase(), known);
  if (distance(name.toUpperCase(), nearest) > NEAR) return;
  throw new UsageError(`environment variable ${name} matches no flag (did you mean ${nearest}?)`);
}
