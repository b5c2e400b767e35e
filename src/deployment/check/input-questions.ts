import type { INPUT } from '../../contract/assumptions/input-assumptions.ts';
import type { Look } from './check-transcript.ts';
import { accepted, type Questions, refused, status } from './question.ts';
import { SENT_ID } from './request-parts.ts';

/** What settles each assumption about input. */
export const INPUT_QUESTIONS: Questions<keyof typeof INPUT> = {
  'invalid-input': {
    by: ['limitText'],
    also: ['petText', 'createNoCategory', 'stockText', 'stockNothing'],
    all: { 400: refusedWith(400), 422: refusedWith(422) },
  },
  'limit-out-of-range': {
    by: ['limit0', 'limit101'],
    obstacle: (check) => check.whyNoList('pets100'),
    all: {
      reject: (check) => check.all('limit0', 'limit101').every(refused),
      clamp: (check) => lists('limit0', 1)(check) && lists('limit101', 100)(check),
      default: (check) => lists('limit0', 20)(check) && lists('limit101', 20)(check),
    },
  },
  'status-filter': {
    by: ['unseenFilter'],
    also: ['createUnseenStatus'],
    obstacle: (check) => {
      if (check.accepted('createUnseenStatus')) return 'the deployment accepts any status';
      const isEmpty = check.list('unseenFilter')?.length === 0;
      return isEmpty && check.get('createUnseenStatus') === undefined
        ? `an empty list can mean that any status is accepted; ${check.whyUnknown('createUnseenStatus')}`
        : undefined;
    },
    all: {
      reject: (check) => check.refused('unseenFilter'),
      empty: lists('unseenFilter', 0),
      ignore: lists('unseenFilter', 100),
    },
  },
  'animal-status-values': { by: ['createUnseenStatus'], reply: { seen: refused, any: accepted } },
  'name-limits': {
    by: ['createLongName'],
    obstacle: (check) =>
      check.accepted('createLongName')
        ? 'none or non-empty: only an empty name could tell, but an animal without a name would not show where it comes from'
        : undefined,
    reply: { none: () => false, 'non-empty': () => false, 255: refused },
  },
  'id-on-create': {
    by: ['createWithId'],
    all: {
      reject: (check) => check.refused('createWithId'),
      ignore: (check) => ![undefined, SENT_ID].includes(check.id('createWithId')),
    },
  },
  'unknown-body-fields': {
    by: ['createUnknownField'],
    reply: { ignore: accepted, reject: refused },
  },
  'unknown-query': { by: ['unknownQuery'], reply: { ignore: status(200), reject: refused } },
  'negative-quantity': {
    by: ['stockNegative'],
    obstacle: (check) =>
      check.status('stockNegative') === 404
        ? 'no animal that the check creates has an inventory entry'
        : undefined,
    reply: { reject: refused, accept: ({ record }) => record?.quantity === -1 },
  },
  'media-type': { by: ['createAsText'], reply: { reject: status(415), lenient: accepted } },
  'body-limit': {
    by: ['createOver10kb', 'createOver1mb'],
    all: {
      '1mb': (check) => check.refused('createOver10kb') && check.status('createOver1mb') === 413,
      '10kb': (check) => check.all('createOver10kb', 'createOver1mb').every(status(413)),
      none: (check) => check.all('createOver10kb', 'createOver1mb').every(refused),
    },
  },
  'check-order': {
    by: ['limitTextNoKey'],
    obstacle: (check) =>
      check.status('petsNoKey') === 401 && check.refused('limitText')
        ? undefined
        : `a missing key and a wrong limit are not both refused on their own: ${check.all('petsNoKey', 'limitText').join('; ')}`,
    reply: { 'auth-first': status(401), 'input-first': refused },
  },
};

/** Whether every refusal of input has this status. Ignores input that was accepted. */
function refusedWith(expected: number): Look<boolean> {
  return (check) => {
    const others = check.all('createNoCategory', 'stockText', 'stockNothing');
    const pet = check.all('petText').filter((it) => it.refused || !check.hasPassedSunset);
    return [
      ...check.all('limitText'),
      ...[...pet, ...others].filter((it) => it.status >= 400),
    ].every(status(expected));
  };
}

/** Whether a list has as many animals as this limit lets through. */
function lists(name: 'limit0' | 'limit101' | 'unseenFilter', limit: number): Look<boolean> {
  return (check) => {
    const known = check.list('pets100')?.length ?? 0;
    return check.list(name)?.length === Math.min(limit, known);
  };
}
