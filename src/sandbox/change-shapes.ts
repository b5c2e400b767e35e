import { chooseOptions } from '../contract/assumption-table.ts';
import { EVIDENCE_STATE, EXCHANGE_EVIDENCE, PAST_STATE } from '../evidence/evidence-shapes.ts';
import { ASSUME } from '../scenario/assume-shape.ts';
import { SCENARIO_SOURCE } from '../scenario/scenario-source.ts';
import { internal, object } from '../shape/objects.ts';
import {
  ANY_NUMBER,
  ANY_TEXT,
  choice,
  convert,
  FLAG,
  list,
  type ValueOf,
} from '../shape/shapes.ts';
import { STORE_CHANGE } from '../store/log/store-change-text.ts';

const { given, maybe } = internal;

const CLOCK = convert(
  object({ ahead: given(ANY_NUMBER), frozenAt: maybe(ANY_NUMBER) }),
  ({ ahead, frozenAt }) => ({ ahead, frozenAt }),
);

const COUNTS = object({
  rules: given(
    list(object({ scenario: maybe(ANY_TEXT), index: given(ANY_NUMBER), count: given(ANY_NUMBER) })),
  ),
  rates: given(
    list(
      object({
        key: given(ANY_TEXT),
        window: maybe(object({ startedAt: given(ANY_NUMBER), count: given(ANY_NUMBER) })),
      }),
    ),
  ),
});

const CHOICES = convert(ASSUME, (assume) => chooseOptions(assume));

/** Without a URL, the mock answers. */
const UPSTREAM = object({ url: maybe(ANY_TEXT), key: maybe(ANY_TEXT) });

/** What a restart started from: its scenarios, or nothing for the origin. */
const START = object({ scenarios: maybe(list(SCENARIO_SOURCE)) });

/** The parts of a change whose numbers a double can hold. */
export const PLAIN_CHANGE = object({
  startedAt: maybe(ANY_NUMBER),
  choices: maybe(CHOICES),
  clock: maybe(CLOCK),
  upstream: maybe(UPSTREAM),
  snapshots: maybe(list(object({ name: given(ANY_TEXT), taken: given(FLAG) }))),
  counts: maybe(COUNTS),
  exchange: maybe(EXCHANGE_EVIDENCE),
  cleared: maybe(choice(['journal', 'evidence'])),
  past: maybe(PAST_STATE),
});

/** The parts of a change that may hold an int64. */
export const EXACT_CHANGE = object({ store: maybe(STORE_CHANGE), start: maybe(START) });

/** The parts of a snapshot whose numbers a double can hold. */
export const PLAIN_SNAPSHOT = object({
  startedAt: given(ANY_NUMBER),
  choices: given(CHOICES),
  clock: given(CLOCK),
  upstream: given(UPSTREAM),
  counts: given(COUNTS),
  evidence: given(EVIDENCE_STATE),
  past: given(PAST_STATE),
});

/** The parts of a snapshot that may hold an int64. Stores are differences from that of the start. */
export const EXACT_SNAPSHOT = object({
  store: given(STORE_CHANGE),
  start: given(START),
  snapshots: given(list(object({ name: given(ANY_TEXT), store: given(STORE_CHANGE) }))),
});

export type StartName = ValueOf<typeof START>;
export type UpstreamName = ValueOf<typeof UPSTREAM>;
