import { type OperationId, operationShape } from '../../contract/operations.ts';
import { describe } from '../../words.ts';
import type { Deviation } from '../reply-differences.ts';
import type { JsonRecord } from '../reply-parts.ts';
import type { CheckRequest, Need } from './check-transcript.ts';

/** Every animal that a check creates has a name that starts with this. */
export const ORIGIN = 'petstore-mock check';

/** The id that a body must not have. */
export const SENT_ID = 7_777_777_777_777_777n;

export const OTHER_ORIGIN = 'https://petstore-mock-check.example';

/** The window of a burst in seconds, and its requests: 50% more than `rate-limit: 10/s` allows. */
export const BURST = { seconds: 1, requests: 15 } as const;

type More = Partial<CheckRequest>;

export function call(
  operation: OperationId,
  path: string,
  why: string,
  more: More = {},
): CheckRequest {
  return { operation, method: operationShape(operation).method, path, why, ...more };
}

export const listPets = (query: string, why: string, more?: More) =>
  call('listPets', `/pets${query}`, why, more);
export const readPet = (needs: Need, why: string, more?: More) =>
  call('getPet', '/pets/{}', why, {
    needs,
    excuse: ({ status }, check) => (status === 410 || status === 404) && check.hasPassedSunset,
    ...more,
  });
export const listInventory = (why: string, more?: More) =>
  call('listInventory', '/inventory', why, more);
export const listOrders = (query: string, why: string, more?: More) =>
  call('listOrders', `/store/orders${query}`, why, more);

export const NO_KEY = { key: 'none', status: 401 } as const;

/** What a reply that keeps to a rule deviates by. */
export const KEPT: readonly Deviation[] = [];

export function wrong(at: string, expected: string, found: string): Deviation[] {
  return [{ where: 'value', at, expected, found }];
}

/** The fields of a record that differ from another one. */
export function unlike(
  found: JsonRecord | undefined,
  expected: JsonRecord | undefined,
  fields = Object.keys(expected ?? {}),
  at = '$',
): readonly Deviation[] {
  if (found === undefined) return KEPT;
  return fields
    .filter((field) => String(found[field] ?? '') !== String(expected?.[field] ?? ''))
    .flatMap((field) =>
      wrong(`${at}.${field}`, describe(expected?.[field]), describe(found[field])),
    );
}
