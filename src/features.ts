import { DASHBOARD } from './features/dashboard/feature.ts';
import { DEPLOYMENT } from './features/deployment/feature.ts';
import { FLEET } from './features/fleet/feature.ts';
import type { Feature } from './server/feature.ts';
import type { BaseOptions, Intersection, OptionGroups, OptionsOf } from './server/options.ts';
import type { FeatureCommand, ProgramFeature } from './terminal/program-feature.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What this build of the mock has besides the core and the server: take a line away to take one off. */
export const FEATURES = [
  DASHBOARD, //
  DEPLOYMENT,
  FLEET,
] as const satisfies readonly (Feature & ProgramFeature)[];

const ALL: readonly (Feature & ProgramFeature)[] = FEATURES;

type GroupsOf<F> = F extends { readonly options: infer Groups } ? Groups : never;

/** The rows of options that the features add, under their headings. */
type FeatureGroups = Intersection<GroupsOf<(typeof FEATURES)[number]>>;

/** How to start a server. Defaults are those of the flags with the same names. */
export type ServerOptions = BaseOptions & OptionsOf<FeatureGroups>;

export const FEATURE_OPTIONS: readonly OptionGroups[] = ALL.flatMap(({ options }) =>
  options === undefined ? [] : [options],
);

/** The rows of a heading that features add; none if no feature has any. */
export function addedRows<Heading extends string>(
  heading: Heading,
): FeatureGroups extends { readonly [H in Heading]: infer Rows } ? Rows : object {
  return Object.assign({}, ...FEATURE_OPTIONS.map((groups) => groups[heading]));
}

type FlagGroupsOf<F> = F extends { readonly flags: infer Groups } ? Groups : never;

type FeatureFlagGroups = Intersection<FlagGroupsOf<(typeof FEATURES)[number]>>;

/** The same for flags that no server takes. */
export function addedFlags<Heading extends string>(
  heading: Heading,
): FeatureFlagGroups extends { readonly [H in Heading]: infer Rows } ? Rows : object {
  return Object.assign({}, ...ALL.map(({ flags }) => flags?.[heading]));
}

type CommandsOf<F> = F extends { readonly commands: infer Commands } ? keyof Commands : never;

export type FeatureCommandName = CommandsOf<(typeof FEATURES)[number]>;

/** The commands that the features add to the program. */
export const FEATURE_COMMANDS: Readonly<Record<FeatureCommandName, FeatureCommand>> = Object.assign(
  {},
  ...ALL.map(({ commands }) => commands),
);

export function findFeatureCommand(name: FeatureCommandName): FeatureCommand {
  return FEATURE_COMMANDS[name];
}

/** Lets features refuse, or ask, before a server starts. Throws a UsageError. */
export async function beforeStart(flags: object, terminal: Terminal): Promise<void> {
  for (const feature of ALL) await feature.beforeStart?.(flags, terminal);
}
