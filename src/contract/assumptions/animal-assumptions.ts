import { type AssumptionShape, headers, option, reply } from './assumption-shape.ts';

/** What the document leaves open about animals. */
export const ANIMALS = {
  'unknown-pet': {
    question: 'Which status does the Error for an unknown `petId` have?',
    options: [
      option('404', '404 Not Found', reply(404, 'No animal has this id.')),
      option('400', '400 Bad Request', reply(400, 'No animal has this id.')),
    ],
    touches: ['getPet', 'updateInventory'],
  },
  'pets-order': {
    question: 'In which order are animals listed?',
    options: [
      option('id', 'ascending id'),
      option('newest', 'descending id'),
      option('shuffled', 'shuffled by the seed, the same at every call'),
    ],
    touches: ['listPets'],
  },
  'pets-paging': {
    question: 'How does a client ask for the next page of animals?',
    options: [
      option('none', 'not at all'),
      option(
        'cursor',
        '`Link` with rel="next" and an opaque `cursor`, absent on the last page',
        headers([200], {
          Link: 'The next page, with rel="next"; absent on the last page.',
        }),
      ),
      option(
        'offset',
        'the parameter `offset`; the reply carries `X-Total-Count`',
        headers([200], { 'X-Total-Count': 'The number of animals on all pages.' }),
      ),
    ],
    touches: ['listPets'],
  },
  'created-status': {
    question: 'Which status does an animal get if it is created without one?',
    options: [option('absent', 'none'), option('available', '`available`')],
    touches: ['createPet'],
  },
  'assigned-ids': {
    question: 'Which id does a created animal get?',
    options: [
      option('next', 'the highest id ever used plus one', reply(507, 'No id is left.')),
      option('int64', 'an id above 2^53, drawn from the seed and the count'),
    ],
    touches: ['createPet'],
  },
  'deprecation-headers': {
    question: 'Does `GET /pets/{petId}` announce its deprecation in headers?',
    options: [
      option(
        'sent',
        '`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to its successor',
        // Every status of getPet's own replies under any options.
        headers([200, 400, 404, 410], {
          Deprecation: 'When the operation was deprecated (RFC 9745).',
          Sunset: 'When the operation may be removed (RFC 8594).',
          Link: 'The documentation of its successor.',
        }),
      ),
      option('absent', 'no'),
    ],
    touches: ['getPet'],
  },
  'after-sunset': {
    question: 'What does `GET /pets/{petId}` answer after its sunset on 2030-12-05?',
    options: [
      option('unchanged', 'as before'),
      option('410', '410 Gone', reply(410, 'The operation is past its sunset.')),
      option('404', '404 Not Found', reply(404, 'The operation is past its sunset.')),
    ],
    touches: ['getPet'],
  },
} as const satisfies Record<string, AssumptionShape>;
