import type { OptionsOf } from './core/shape/option-kinds.ts';
import type { Intersection } from './core/tables.ts';
import { DASHBOARD } from './features/dashboard/feature.ts';
import { DEPLOYMENT } from './features/deployment/feature.ts';
import { DISK } from './features/disk/feature.ts';
import { EVENTS } from './features/events/added-handlers.ts';
import { FLEET } from './features/fleet/feature.ts';
import { HAR } from './features/har/added-handlers.ts';
import { OPENAPI } from './features/openapi/feature.ts';
import { RESOURCES } from './features/resources/added-handlers.ts';
import { SCENARIOS } from './features/scenarios/added-handlers.ts';
import { TIME_TRAVEL } from './features/time-travel/added-handlers.ts';
import type { Feature } from './server/feature.ts';
import type { BaseOptions } from './server/options.ts';
import type { FeatureCommand, ProgramFeature } from './terminal/command.ts';
import type { Terminal } from './terminal/terminal.ts';

/**
 * The features of this build. To remove one, see "Smaller changes" in CONTRIBUTING.md. The mock behind
 * `fetch` takes its features from all folders with an `added-handlers.ts` instead.
 */
const LISTED = [
  DASHBOARD, //
  DEPLOYMENT,
  DISK,
  EVENTS,
  FLEET,
  HAR,
  OPENAPI,
  RESOURCES,
  SCENARIOS,
  TIME_TRAVEL,
] as const satisfies readonly (Feature & ProgramFeature)[];

export const FEATURES: readonly (Feature & ProgramFeature)[] = LISTED;

type AddedBy<F, Kind extends string> = F extends { readonly [K in Kind]: infer Added }
  ? Added
  : never;

/** What the features add, merged into one type. */
type Added<Kind extends 'options' | 'flags'> = Intersection<AddedBy<(typeof LISTED)[number], Kind>>;

/** How to start a server. Defaults are those of the flags with the same names. */
export type ServerOptions = BaseOptions & OptionsOf<Added<'options'>>;

/** The options, or flags that no server takes, that features add under a heading. */
export function addedRows<Kind extends 'options' | 'flags', Heading extends string>(
  kind: Kind,
  heading: Heading,
): Added<Kind> extends { readonly [H in Heading]: infer Rows } ? Rows : object {
  return Object.assign({}, ...FEATURES.map(({ [kind]: groups }) => groups?.[heading]));
}

type CommandsOf<F> = F extends { readonly commands: infer Commands } ? keyof Commands : never;

export type FeatureCommandName = CommandsOf<(typeof LISTED)[number]>;

/** The commands that the features add to the program. */
export const FEATURE_COMMANDS: Readonly<Record<FeatureCommandName, FeatureCommand>> = Object.assign(
  {},
  ...FEATURES.map(({ commands }) => commands),
);

export function findFeatureCommand(name: FeatureCommandName): FeatureCommand {
  return FEATURE_COMMANDS[name];
}

/** Lets features refuse to start, or ask the user first. Throws a UsageError. */
export async function beforeStart(flags: object, terminal: Terminal): Promise<void> {
  for (const feature of FEATURES) await feature.beforeStart?.(flags, terminal);
}
