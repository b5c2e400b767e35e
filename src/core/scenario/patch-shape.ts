import { LIMITS } from '../limits.ts';
import { writeHeaderText } from '../raw-http.ts';
import { dictionary, object, optional, required } from '../shape/objects.ts';
import { ANY, convert, integer, list, type ValueOf } from '../shape/shapes.ts';
import { CHANGED_HEADERS } from './reply-shape.ts';
import { type ConditionValue, VALUES } from './where-shape.ts';

const MEMBERS = convert(
  dictionary(VALUES, /^/, { expected: 'an object of members', expectedName: 'a name' }),
  (members): readonly (readonly [name: string, values: readonly ConditionValue[]])[] => [
    ...members,
  ],
);

const ITEM = object({
  where: required(
    MEMBERS,
    'Members that a record has; a list matches any of its values, null an absent one.',
  ),
  body: required(ANY, 'A merge patch for these records.'),
});

/** What a rule changes in the reply of the service. */
export const PATCH = object(
  {
    status: optional(integer(200, 599, 'a status from 200 to 599'), 'Another status.'),
    headers: optional(
      convert(CHANGED_HEADERS, (headers) =>
        Array.from(headers, ([name, values]) => ({ name, values: values.map(writeHeaderText) })),
      ),
      'Headers by name, in place of those of the reply; null removes one.',
    ),
    body: optional(ANY, 'A merge patch (RFC 7396) for the whole body: null removes a member.'),
    each: optional(ANY, 'A merge patch for each record: of a list, or the only one.'),
    items: optional(
      list(ITEM, { min: 1, max: LIMITS.patchItems }),
      'Merge patches for some records, after `each`.',
    ),
  },
  { expected: 'an object with `status`, `headers`, `body`, `each` or `items`', some: true },
);

export type Patch = ValueOf<typeof PATCH>;
