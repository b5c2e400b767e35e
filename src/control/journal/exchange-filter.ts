import { OPERATION_IDS } from '../../contract/operations.ts';
import type { ExchangeFilter } from '../../evidence/journal.ts';
import { INSTANT } from '../../scenario/time-shapes.ts';
import { object, optional } from '../../shape/objects.ts';
import { ANY_TEXT, choice, integer, named, type Shape } from '../../shape/shapes.ts';
import { BASIS, COUNT } from '../control-shapes.ts';

const MEMBERS = {
  operation: optional(choice(OPERATION_IDS), 'Exchanges of this operation.'),
  status: optional(integer(100, 999, 'an HTTP status'), 'Exchanges with this status.'),
  basis: optional(BASIS, 'Exchanges whose reply rests on this.'),
  method: optional(ANY_TEXT, 'Exchanges of this method.'),
  key: optional(ANY_TEXT, 'Exchanges with this API key, in full.'),
  from: optional(INSTANT, 'Exchanges since then.'),
  to: optional(INSTANT, 'Exchanges until then, itself included.'),
};

/** Which exchanges are meant: every member given must hold. */
export const FILTER: Shape<ExchangeFilter> = named('ExchangeFilter', object(MEMBERS));

export const LIMITED_FILTER = object({
  ...MEMBERS,
  limit: optional(COUNT, 'The latest ones only, as many as this.'),
});
