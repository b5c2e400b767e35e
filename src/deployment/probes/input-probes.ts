import type { INPUT } from '../../contract/assumptions/input-assumptions.ts';
import type { CheckTranscript } from '../check-transcript.ts';
import { SENT_ID } from '../check-values.ts';
import { hasPassedSunset } from './animal-probes.ts';
import { accepted, all, type Look, type Probes, refused, status } from './probe-shape.ts';

/** What settles each assumption about input. */
export const INPUT_PROBES: Probes<keyof typeof INPUT> = {
  'invalid-input': {
    requests: ['limitText'],
    also: ['petText', 'createNoCategory', 'stockText', 'stockNothing'],
    options: { 400: refusedWith(400), 422: refusedWith(422) },
  },
  'limit-out-of-range': {
    requests: ['limit0', 'limit101'],
    obstacle: (check) => check.whyNoList('pets100'),
    options: {
      reject: refused('limit0', 'limit101'),
      clamp: all(lists('limit0', 1), lists('limit101', 100)),
      default: all(lists('limit0', 20), lists('limit101', 20)),
    },
  },
  'status-filter': {
    requests: ['unseenFilter'],
    also: ['createUnseenStatus'],
    obstacle: (check) => {
      if (check.accepted('createUnseenStatus')) return 'the deployment accepts any status';
      const isEmpty = check.list('unseenFilter')?.length === 0;
      return isEmpty && check.get('createUnseenStatus') === undefined
        ? `an empty list can mean that any status is accepted; ${check.whyUnknown('createUnseenStatus')}`
        : undefined;
    },
    options: {
      reject: refused('unseenFilter'),
      empty: lists('unseenFilter', 0),
      ignore: lists('unseenFilter', 100),
    },
  },
  'animal-status-values': {
    requests: ['createUnseenStatus'],
    options: { seen: refused('createUnseenStatus'), any: accepted('createUnseenStatus') },
  },
  'name-limits': {
    requests: ['createLongName'],
    also: ['createNoName'],
    obstacle: (check) =>
      check.accepted('createLongName') && check.get('createNoName') === undefined
        ? 'none or non-empty: only an empty name could tell, but an animal without a name would not show where it comes from'
        : undefined,
    options: {
      none: all(accepted('createLongName'), status('createNoName', 401)),
      'non-empty': all(accepted('createLongName'), refused('createNoName')),
      255: (check) => check.refused('createLongName') && check.status('createNoName') !== 401,
    },
  },
  'id-on-create': {
    requests: ['createWithId'],
    options: {
      reject: refused('createWithId'),
      ignore: (check) => ![undefined, SENT_ID].includes(check.id('createWithId')),
    },
  },
  'unknown-body-fields': {
    requests: ['createUnknownField'],
    options: { ignore: accepted('createUnknownField'), reject: refused('createUnknownField') },
  },
  'unknown-query': {
    requests: ['unknownQuery'],
    options: { ignore: status('unknownQuery', 200), reject: refused('unknownQuery') },
  },
  'negative-quantity': {
    requests: ['stockNegative'],
    obstacle: (check) =>
      check.status('stockNegative') === 404
        ? 'no animal that the check creates has an inventory entry'
        : undefined,
    options: {
      reject: refused('stockNegative'),
      accept: (check) => check.record('stockNegative')?.quantity === -1,
    },
  },
  'media-type': {
    requests: ['createAsText'],
    options: { reject: status('createAsText', 415), lenient: accepted('createAsText') },
  },
  'body-limit': {
    requests: ['createOver10kb', 'createOver1mb'],
    options: {
      '1mb': all(refused('createOver10kb'), status('createOver1mb', 413)),
      '10kb': all(status('createOver10kb', 413), status('createOver1mb', 413)),
      none: refused('createOver10kb', 'createOver1mb'),
    },
  },
  'check-order': {
    requests: ['limitTextNoKey'],
    obstacle: (check) =>
      check.status('petsNoKey') === 401 && check.refused('limitText')
        ? undefined
        : `a missing key and a wrong limit are not both refused on their own: ${check.all('petsNoKey', 'limitText').join('; ')}`,
    options: {
      'auth-first': status('limitTextNoKey', 401),
      'input-first': refused('limitTextNoKey'),
    },
  },
};

/** Whether every refusal of input has this status. Ignores input that was accepted. */
function refusedWith(expected: number): Look<boolean> {
  return (check) =>
    check
      .all('limitText', 'petText', 'createNoCategory', 'stockText', 'stockNothing')
      .filter((it) => it.name === 'limitText' || it.status >= 400)
      .filter((it) => it.name !== 'petText' || it.refused || !hasPassedSunset(check))
      .every((it) => it.status === expected);
}

/** Whether a list has as many animals as this limit lets through. */
function lists(name: 'limit0' | 'limit101' | 'unseenFilter', limit: number): Look<boolean> {
  const count = (check: CheckTranscript) => check.list('pets100')?.length ?? 0;
  return (check) => check.list(name)?.length === Math.min(limit, count(check));
}
