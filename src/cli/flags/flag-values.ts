import { existsSync } from 'node:fs';
import { ASSUMPTION_IDS, optionPattern } from '../../contract/assumption-table.ts';
import { DEFAULT_URL } from '../../contract/default-url.ts';
import { parseInt64 } from '../../contract/int64.ts';
import { FIELD_TYPES } from '../../contract/records.ts';
import { FINDING_CODE_NAMES } from '../../evidence/finding-codes.ts';
import { REDIS_ADDRESS_FORM, readRedisAddress } from '../../log/redis/address.ts';
import { SANDBOX_NAME, SANDBOX_NAME_FORM } from '../../sandbox/sandbox-names.ts';
import { KEEPABLE } from '../../sandbox/state.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { VISIBLE } from '../../shape/deployment-shapes.ts';
import {
  ANY_TEXT,
  type At,
  choice,
  convert,
  either,
  list,
  type Shape,
  scalar,
  type Tell,
  text,
} from '../../shape/shapes.ts';
import { describe } from '../../words.ts';

/** What `--fail-on` accepts: a kind of finding, or any reply that rested on an assumption. */
export const FAILING_KINDS = ['assumed', ...FINDING_CODE_NAMES] as const;

export const FAIL_ON = list(choice(FAILING_KINDS));

/** The id of an order: an int64 as text. */
export const ORDER_ID = convert(text(), (value, at, tell) => {
  const { expected } = FIELD_TYPES.int64;
  return parseInt64(value) ?? tell({ at, expected, found: describe(value) });
});

export const TOKEN = convert(
  ANY_TEXT,
  (value, at, tell) => {
    if (VISIBLE.test(value)) return value;
    // The value is not shown: a mistyped token is still a secret.
    tell({ at, expected: 'a token of visible ASCII characters', found: 'another character in it' });
    return undefined;
  },
  { pattern: VISIBLE.source },
);

export const REDIS = convert(
  ANY_TEXT,
  (value, at, tell) => {
    if (readRedisAddress(value) !== undefined) return value;
    // The value is not shown: it can hold a password.
    return tell({ at, expected: REDIS_ADDRESS_FORM, found: 'something else' });
  },
  { pattern: '^rediss?://' },
);

export const SCENARIO_NAME = convert(text(), (value, at, tell) => {
  if (!value.includes(',') || existsSync(value)) return value;
  const repeated = value.split(',').map((name) => `--scenario ${name.trim()}`);
  const found = `${describe(value)} (repeat the flag for several: ${repeated.join(' ')})`;
  return tell({ at, expected: 'one scenario', found });
});

/** A share in percent. */
export const SHARE = scalar(
  'a percentage from 0% to 100%, or documented',
  { type: 'string' },
  (value) => {
    if (value === 'documented') return 100;
    // Without the sign only whole numbers: 0.8 could mean 80%.
    const [, percent] = /^(\d{1,3}|\d{1,3}\.\d+(?=%))%?$/.exec(String(value)) ?? [];
    return percent !== undefined && Number(percent) <= 100 ? Number(percent) : undefined;
  },
  ['documented'],
);

export const SANDBOX = text(SANDBOX_NAME_FORM, SANDBOX_NAME, { pattern: SANDBOX_NAME.source });

/** What a reset can keep. */
export const KEPT = list(choice(KEEPABLE));

export const HTTP_URL = urlShape('an http URL such as http://127.0.0.1:4010', /^https?:/i);

export const SERVER_URL = urlShape(`a URL such as ${DEFAULT_URL}`, /^/);

function urlShape(expected: string, start: RegExp): Shape<string> {
  return scalar(expected, { type: 'string', format: 'uri' }, (value) =>
    typeof value === 'string' && start.test(value) && URL.canParse(value) ? value : undefined,
  );
}

const ASSIGNMENTS = list(
  text('ID=OPTION, such as cancel-again=404', /=/, {
    pattern: `^(?:${ASSUMPTION_IDS.map((id) => `${id}=${optionPattern(id)}`).join('|')})$`,
  }),
);

/** Options as ID=OPTION, or in an object by ID. The last one of an ID wins. */
export const ASSUMED = either(
  ASSUME,
  convert(ASSIGNMENTS, readOptions),
  'an object of ID: "OPTION", or "ID=OPTION" in an array',
);

/** Options as ID=OPTION, of which an ID can have several. */
export const ALLOWED = convert(ASSIGNMENTS, (texts, at, tell) =>
  texts.every((text) => readOptions([text], at, tell)) ? texts : undefined,
);

/** An option of `rate-limit`, the assumption for which the flag is named. */
export const RATE = convert(
  text(),
  (option, at, tell) =>
    ASSUME.read({ 'rate-limit': option }, [...at], (misfit) => tell({ ...misfit, at })),
  { pattern: `^${optionPattern('rate-limit')}$` },
);

function readOptions(texts: readonly string[], at: At, tell: Tell) {
  const options = texts.map((text) => /^([^=]*)=(.*)$/s.exec(text)?.slice(1) ?? []);
  return ASSUME.read(Object.fromEntries(options), [...at], tell);
}
