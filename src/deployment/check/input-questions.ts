import type { INPUT } from '../../contract/assumptions/input-assumptions.ts';
import type { CheckTranscript } from './check-transcript.ts';
import { accepted, type Questions, refused, status } from './question.ts';
import { SENT_ID } from './read-requests.ts';

/** What settles each assumption about input. */
export const INPUT_QUESTIONS: Questions<keyof typeof INPUT> = {
  'invalid-input': {
    by: ['limitText'],
    also: ['petText', 'createNoCategory', 'stockText', 'stockNothing'],
    what: 'refusals with',
    values: (check) => refusals(check).map((it) => String(it.status)),
    options: { 400: /^400$/, 422: /^422$/ },
  },
  'limit-out-of-range': {
    from: ['pets100'],
    by: ['limit0', 'limit101'],
    options: {
      reject: refused,
      clamp: (_, check) => lists(check, 'limit0', 1) && lists(check, 'limit101', 100),
      default: (_, check) => lists(check, 'limit0', 20) && lists(check, 'limit101', 20),
    },
  },
  'status-filter': {
    by: ['unseenFilter'],
    also: ['createUnseenStatus', 'pets100'],
    obstacle: (check) => {
      const created = check.get('createUnseenStatus');
      if (created?.accepted) return 'the deployment accepts any status';
      return created === undefined && check.get('unseenFilter')?.records?.length === 0
        ? `an empty list can mean that any status is accepted; ${check.whyUnknown('createUnseenStatus')}`
        : undefined;
    },
    options: {
      reject: refused,
      empty: ({ records }) => records?.length === 0,
      ignore: (_, check) => lists(check, 'unseenFilter', 100),
    },
  },
  'animal-status-values': { by: ['createUnseenStatus'], options: { seen: refused, any: accepted } },
  'name-limits': {
    by: ['createLongName'],
    obstacle: (check) =>
      check.get('createLongName')?.accepted
        ? 'none or non-empty: only an empty name could tell, but an animal without a name would not show where it comes from'
        : undefined,
    options: { none: () => false, 'non-empty': () => false, 255: refused },
  },
  'id-on-create': {
    by: ['createWithId'],
    options: {
      reject: refused,
      ignore: ({ id }) => id !== undefined && id !== SENT_ID,
    },
  },
  'unknown-body-fields': {
    by: ['createUnknownField'],
    options: { ignore: accepted, reject: refused },
  },
  'unknown-query': { by: ['unknownQuery'], options: { ignore: status(200), reject: refused } },
  'negative-quantity': {
    by: ['stockNegative'],
    obstacle: (check) =>
      check.get('stockNegative')?.status === 404
        ? 'no animal that the check creates has an inventory entry'
        : undefined,
    options: { reject: refused, accept: ({ record }) => record?.quantity === -1 },
  },
  'media-type': { by: ['createAsText'], options: { reject: status(415), lenient: accepted } },
  'body-limit': {
    by: ['createOver10kb', 'createOver1mb'],
    what: 'bodies of 11 and 1025 KiB:',
    values: (check) => [
      check
        .all('createOver10kb', 'createOver1mb')
        .map((it) => (it.refused ? 'refused' : it.status))
        .join(', '),
    ],
    options: { '1mb': /^refused, 413$/, '10kb': /^413, 413$/, none: /^refused, refused$/ },
  },
  'check-order': {
    by: ['limitTextNoKey'],
    also: ['petsNoKey', 'limitText'],
    obstacle: (check) =>
      check.get('petsNoKey')?.status === 401 && check.get('limitText')?.refused
        ? undefined
        : `a missing key and a wrong limit are not both refused on their own: ${check.all('petsNoKey', 'limitText').join('; ')}`,
    options: { 'auth-first': status(401), 'input-first': refused },
  },
};

/** The refusals of input. Ignores input that was accepted, and an operation past its sunset. */
function refusals(check: CheckTranscript) {
  const pet = check.all('petText').filter((it) => it.refused || !check.hasPassedSunset);
  const others = check.all('createNoCategory', 'stockText', 'stockNothing');
  return [...check.all('limitText'), ...[...pet, ...others].filter((it) => it.status >= 400)];
}

/** Whether a list has as many animals as this limit lets through. */
function lists(
  check: CheckTranscript,
  name: 'limit0' | 'limit101' | 'unseenFilter',
  limit: number,
): boolean {
  const known = check.get('pets100')?.records?.length ?? 0;
  return check.get(name)?.records?.length === Math.min(limit, known);
}
