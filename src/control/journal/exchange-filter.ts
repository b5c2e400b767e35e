import { OPERATION_IDS } from '../../contract/operations.ts';
import type { Problem, Reading } from '../../contract/records.ts';
import type { ExchangeFilter } from '../../evidence/journal.ts';
import { listed } from '../../words.ts';
import { readMembers } from '../checks.ts';
import type { Parameter } from '../endpoint.ts';
import { INSTANT } from '../state/clock-endpoints.ts';

const BASES = ['documented', 'assumed', 'forced'] as const;

const TEXT = {
  expected: 'a string',
  read: (value: unknown) => (typeof value === 'string' ? value : undefined),
};

/** The members of a filter, as a body has them. */
const MEMBERS = {
  operation: {
    expected: listed(OPERATION_IDS, 'or'),
    words: OPERATION_IDS,
    read: (value: unknown) => OPERATION_IDS.find((id) => id === value),
  },
  status: {
    expected: 'an HTTP status',
    read: (value: unknown) =>
      typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 999
        ? value
        : undefined,
  },
  basis: {
    expected: listed(BASES, 'or'),
    words: BASES,
    read: (value: unknown) => BASES.find((basis) => basis === value),
  },
  method: TEXT,
  key: TEXT,
  from: INSTANT,
  to: INSTANT,
};

/** The same, as a query has them. */
const PARAMETERS = {
  ...MEMBERS,
  status: { ...MEMBERS.status, read: (value: unknown) => MEMBERS.status.read(wholeNumber(value)) },
};

const PARAMETERS_AND_LIMIT = {
  ...PARAMETERS,
  limit: { expected: 'an integer from 0', read: wholeNumber },
};

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

const INSTANT_SCHEMA = { type: 'string', format: 'date-time' };

export const FILTER_PARAMETERS: readonly Parameter[] = [
  {
    name: 'operation',
    description: 'Exchanges of this operation.',
    schema: { type: 'string', enum: OPERATION_IDS },
  },
  {
    name: 'status',
    description: 'Exchanges with this status.',
    schema: { type: 'integer', minimum: 100, maximum: 999 },
  },
  {
    name: 'basis',
    description: 'Exchanges whose reply rests on this.',
    schema: { type: 'string', enum: BASES },
  },
  { name: 'method', description: 'Exchanges of this method.', schema: { type: 'string' } },
  {
    name: 'key',
    description: 'Exchanges with this API key, in full.',
    schema: { type: 'string' },
  },
  { name: 'from', description: 'Exchanges since then.', schema: INSTANT_SCHEMA },
  { name: 'to', description: 'Exchanges until then, itself included.', schema: INSTANT_SCHEMA },
];

export const LIMIT_PARAMETER: Parameter = {
  name: 'limit',
  description: 'The latest ones only, as many as this.',
  schema: { type: 'integer', minimum: 0 },
};

export function readBodyFilter(body: unknown): Reading<ExchangeFilter> {
  return readMembers(MEMBERS, body);
}

export function readQueryFilter(query: URLSearchParams): Reading<ExchangeFilter> {
  const given = membersOf(query);
  return given.ok ? readMembers(PARAMETERS, given.value) : given;
}

export function readLimitedFilter(
  query: URLSearchParams,
): Reading<ExchangeFilter & { readonly limit?: number | undefined }> {
  const given = membersOf(query);
  return given.ok ? readMembers(PARAMETERS_AND_LIMIT, given.value) : given;
}

function membersOf(query: URLSearchParams): Reading<Readonly<Record<string, string>>> {
  const problems = [...new Set(query.keys())]
    .filter((name) => query.getAll(name).length > 1)
    .map((path): Problem => ({ path, expected: 'one value', found: 'several' }));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: Object.fromEntries(query) };
}
