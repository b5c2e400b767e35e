import type { ClockState } from '../service/clock.ts';
import type { CountNote, Counts } from '../service/counts.ts';
import type {
  CountsChange,
  RuleCount,
  Settings,
  SettingsChange,
  SnapshotChange,
} from './change.ts';
import type { Setup } from './setup.ts';

/** A sandbox's setup and clock, before or after a change. */
export interface Moment {
  readonly setup: Setup;
  readonly clock: ClockState;
}

/** The settings that differ; undefined if none do. */
export function settingsChange(before: Moment, after: Moment): SettingsChange | undefined {
  const [was, is] = [before.setup, after.setup];
  if (was === is && isSameClock(before.clock, after.clock)) return undefined;
  const isRestarted = was.rules !== is.rules;
  const choices = isRestarted ? is.start.choices : was.world.choices;
  const change: SettingsChange = {
    ...(isRestarted && startOf(is)),
    ...(is.world.choices !== choices && { choices: is.world.choices }),
    ...(!isSameClock(before.clock, after.clock) && { clock: after.clock }),
    ...(was.upstream !== is.upstream && { upstream: { is: is.upstream } }),
    ...(was.snapshots !== is.snapshots && { snapshots: snapshotChanges(was, is) }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** All settings but the snapshots. */
export function allSettings({ setup, clock }: Moment): Settings {
  const { world, upstream } = setup;
  return { ...startOf(setup), choices: world.choices, clock, upstream: { is: upstream } };
}

function startOf({ start, origin, world }: Setup) {
  const from = start === origin ? ('origin' as const) : start;
  return { start: from, startedAt: world.startedAt };
}

function isSameClock(one: ClockState, other: ClockState): boolean {
  return one.ahead === other.ahead && one.frozenAt === other.frozenAt;
}

function snapshotChanges(was: Setup, is: Setup): readonly SnapshotChange[] {
  const deleted = [...was.snapshots.keys()].filter((name) => !is.snapshots.has(name));
  const taken = [...is.snapshots.keys()].filter(
    (name) => is.snapshots.get(name) !== was.snapshots.get(name),
  );
  return [
    ...deleted.map((name) => ({ name, taken: false })),
    ...taken.map((name) => ({ name, taken: true })),
  ];
}

type Keys = Iterable<number | string>;

/** The current values of the noted counts; undefined if none were noted. */
export function countsChange(setup: Setup, notes: readonly CountNote[]): CountsChange | undefined {
  if (notes.length === 0) return undefined;
  const keys = new Map<object, Set<number | string>>();
  for (const { counts, key } of notes) {
    const noted = keys.get(counts);
    if (noted === undefined) keys.set(counts, new Set([key]));
    else noted.add(key);
  }
  return countsOf(setup, (counts) => keys.get(counts) ?? []);
}

export function allCounts(setup: Setup): CountsChange {
  return countsOf(setup, (counts) => counts.keys());
}

function countsOf(
  { rules, preferred, world }: Setup,
  keysOf: (counts: Counts<unknown>) => Keys,
): CountsChange {
  const ofRules = (counts: Counts<number>, scenario?: string): RuleCount[] =>
    Array.from(keysOf(counts), (key) => ({
      ...(scenario !== undefined && { scenario }),
      index: Number(key),
      count: counts.get(key) ?? 0,
    }));
  const { windows } = world.rates;
  return {
    rules: [
      ...ofRules(rules.counts),
      ...[...preferred].flatMap(([scenario, counts]) => ofRules(counts, scenario)),
    ],
    rates: Array.from(keysOf(windows), (key) => {
      const window = windows.get(key);
      return { key: String(key), ...(window && { window }) };
    }),
  };
}
