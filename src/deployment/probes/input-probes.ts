import type { INPUT } from '../../contract/assumptions/input-assumptions.ts';
import { SENT_ID } from '../asks.ts';
import { idIn, type Seen } from '../seen.ts';
import { hasPassedSunset } from './animal-probes.ts';
import type { Probes } from './probe-shape.ts';

/** What settles each assumption about input. */
export const INPUT_PROBES: Probes<keyof typeof INPUT> = {
  'invalid-input': {
    asks: ['limitText'],
    also: ['petText', 'createNoCategory', 'stockText', 'stockNothing'],
    options: { 400: (seen) => refusalsAre(seen, 400), 422: (seen) => refusalsAre(seen, 422) },
  },
  'limit-out-of-range': {
    asks: ['limit0', 'limit101'],
    obstacle: (seen) => seen.whyNoList('pets100'),
    options: {
      reject: (seen) => seen.refused('limit0') && seen.refused('limit101'),
      clamp: (seen) => lists(seen, 'limit0', 1) && lists(seen, 'limit101', 100),
      default: (seen) => lists(seen, 'limit0', 20) && lists(seen, 'limit101', 20),
    },
  },
  'status-filter': {
    asks: ['unseenFilter'],
    also: ['createUnseenStatus'],
    obstacle: (seen) => {
      if (seen.get('createUnseenStatus')?.accepted) {
        return 'the deployment accepts any status';
      }
      const isEmpty = seen.list('unseenFilter')?.length === 0;
      return isEmpty && seen.get('createUnseenStatus') === undefined
        ? `an empty list can mean that any status is accepted; ${seen.whyUnknown('createUnseenStatus')}`
        : undefined;
    },
    options: {
      reject: (seen) => seen.refused('unseenFilter'),
      empty: (seen) => lists(seen, 'unseenFilter', 0),
      ignore: (seen) => lists(seen, 'unseenFilter', 100),
    },
  },
  'animal-status-values': {
    asks: ['createUnseenStatus'],
    options: {
      seen: (seen) => seen.refused('createUnseenStatus'),
      any: (seen) => seen.get('createUnseenStatus')?.accepted === true,
    },
  },
  'name-limits': {
    asks: ['createLongName'],
    also: ['createNoName'],
    obstacle: (seen) =>
      seen.get('createLongName')?.accepted && seen.get('createNoName') === undefined
        ? 'none or non-empty: only an empty name could tell, but an animal without a name would not show where it comes from'
        : undefined,
    options: {
      none: (seen) =>
        seen.get('createLongName')?.accepted === true && seen.status('createNoName') === 401,
      'non-empty': (seen) =>
        seen.get('createLongName')?.accepted === true && seen.refused('createNoName'),
      255: (seen) => seen.refused('createLongName') && seen.status('createNoName') !== 401,
    },
  },
  'id-on-create': {
    asks: ['createWithId'],
    options: {
      reject: (seen) => seen.refused('createWithId'),
      ignore: (seen) => {
        const id = idIn(seen.get('createWithId')?.record);
        return id !== undefined && id !== SENT_ID;
      },
    },
  },
  'unknown-body-fields': {
    asks: ['createUnknownField'],
    options: {
      ignore: (seen) => seen.get('createUnknownField')?.accepted === true,
      reject: (seen) => seen.refused('createUnknownField'),
    },
  },
  'unknown-query': {
    asks: ['unknownQuery'],
    options: {
      ignore: (seen) => seen.status('unknownQuery') === 200,
      reject: (seen) => seen.refused('unknownQuery'),
    },
  },
  'negative-quantity': {
    asks: ['stockNegative'],
    obstacle: (seen) =>
      seen.status('stockNegative') === 404
        ? 'no animal that the check creates has an inventory entry'
        : undefined,
    options: {
      reject: (seen) => seen.refused('stockNegative'),
      accept: (seen) => seen.get('stockNegative')?.record?.quantity === -1,
    },
  },
  'media-type': {
    asks: ['createAsText'],
    options: {
      reject: (seen) => seen.status('createAsText') === 415,
      lenient: (seen) => seen.get('createAsText')?.accepted === true,
    },
  },
  'body-limit': {
    asks: ['createOver10kb', 'createOver1mb'],
    options: {
      '1mb': (seen) => seen.refused('createOver10kb') && seen.status('createOver1mb') === 413,
      '10kb': (seen) =>
        seen.status('createOver10kb') === 413 && seen.status('createOver1mb') === 413,
      none: (seen) => seen.refused('createOver10kb') && seen.refused('createOver1mb'),
    },
  },
  'check-order': {
    asks: ['limitTextNoKey'],
    obstacle: (seen) =>
      seen.status('petsNoKey') === 401 && seen.refused('limitText')
        ? undefined
        : `a missing key and a wrong limit are not both refused on their own: ${seen.all('petsNoKey', 'limitText').join('; ')}`,
    options: {
      'auth-first': (seen) => seen.status('limitTextNoKey') === 401,
      'input-first': (seen) => seen.refused('limitTextNoKey'),
    },
  },
};

/** Whether every refusal of input has this status. Ignores input that was accepted. */
function refusalsAre(seen: Seen, status: number): boolean {
  const sent = seen
    .all('limitText', 'petText', 'createNoCategory', 'stockText', 'stockNothing')
    .filter((it) => it.name === 'limitText' || it.status >= 400)
    .filter((it) => it.name !== 'petText' || it.refused || !hasPassedSunset(seen));
  return sent.every((it) => it.status === status);
}

/** The number of animals, up to 100. */
function total(seen: Seen): number | undefined {
  return seen.list('pets100')?.length;
}

/** Whether a list has as many animals as this limit lets through. */
function lists(seen: Seen, name: 'limit0' | 'limit101' | 'unseenFilter', limit: number): boolean {
  return seen.list(name)?.length === Math.min(limit, total(seen) ?? 0);
}
