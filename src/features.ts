import { DASHBOARD } from './features/dashboard/feature.ts';
import { DEPLOYMENT } from './features/deployment/feature.ts';
import { FLEET } from './features/fleet/feature.ts';
import type { Feature } from './server/feature.ts';
import type { BaseOptions, Intersection, OptionGroups, OptionsOf } from './server/options.ts';

/** What this build of the mock has besides the core and the server: take a line away to take one off. */
export const FEATURES = [
  DASHBOARD, //
  DEPLOYMENT,
  FLEET,
] as const satisfies readonly Feature[];

type GroupsOf<F> = F extends { readonly options: infer Groups } ? Groups : never;

/** The rows of options that the features add, under their headings. */
type FeatureGroups = Intersection<GroupsOf<(typeof FEATURES)[number]>>;

/** How to start a server. Defaults are those of the flags with the same names. */
export type ServerOptions = BaseOptions & OptionsOf<FeatureGroups>;

export const FEATURE_OPTIONS: readonly OptionGroups[] = FEATURES.flatMap((feature) =>
  'options' in feature ? [feature.options] : [],
);

/** The rows of a heading that features add; none if no feature has any. */
export function addedRows<Heading extends string>(
  heading: Heading,
): FeatureGroups extends { readonly [H in Heading]: infer Rows } ? Rows : object {
  return Object.assign({}, ...FEATURE_OPTIONS.map((groups) => groups[heading]));
}
