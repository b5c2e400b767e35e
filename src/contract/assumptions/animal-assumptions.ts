import { type AssumptionShape, headers, option, reply } from './assumption-shape.ts';

/** What the document leaves open about animals. */
export const ANIMALS = {
  'unknown-pet': {
    question: 'Which status has the Error for a `petId` that no animal has?',
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
    question: 'How is a further page of animals asked for?',
    options: [
      option('none', 'not at all'),
      option(
        'cursor',
        '`Link` with rel="next" and an opaque `cursor`, absent on the last page',
        headers([200], {
          Link: 'Leads to the next page, with rel="next"; absent on the last one.',
        }),
      ),
      option(
        'offset',
        'the parameter `offset`; the reply carries `X-Total-Count`',
        headers([200], { 'X-Total-Count': 'How many animals there are on all pages.' }),
      ),
    ],
    touches: ['listPets'],
  },
  'created-status': {
    question: 'Which status has an animal that was created without one?',
    options: [option('absent', 'none'), option('available', '`available`')],
    touches: ['createPet'],
  },
  'assigned-ids': {
    question: 'Which id does a created animal get?',
    options: [
      option('next', 'the highest id ever used plus one', reply(507, 'No id is left.')),
      option('int64', 'one above 2^53, drawn from the seed and the count'),
    ],
    touches: ['createPet'],
  },
  'deprecation-headers': {
    question: 'Does `GET /pets/{petId}` announce its deprecation in headers?',
    options: [
      option(
        'sent',
        '`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to its successor',
        // Every status that getPet itself can answer with, whatever else is assumed.
        headers([200, 400, 404, 410], {
          Deprecation: 'Since when the operation is deprecated (RFC 9745).',
          Sunset: 'When the operation may go away (RFC 8594).',
          Link: 'Leads to what is said about its successor.',
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
      option('410', '410 Gone', reply(410, 'The operation was sunset.')),
      option('404', '404 Not Found', reply(404, 'The operation was sunset.')),
    ],
    touches: ['getPet'],
  },
} as const satisfies Record<string, AssumptionShape>;
