import { expect, test } from 'vitest';
import { createReply, DOCUMENTED, type Reply } from '../../../src/core/service/reply.ts';
import { formatReply } from '../../../src/server/http/write.ts';

const HEADERS = ['Mock-Basis', 'documented'];
const TEXT = { body: '{}', mediaType: undefined };

test.each<[string, Reply, string]>([
  ['the phrase of its status', createReply(DOCUMENTED, 400), 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  [
    'a phrase of its own',
    { ...createReply(DOCUMENTED, 400), phrase: 'No' },
    'HTTP/1.1 400 No\r\n\r\n',
  ],
  ['a status that has none', createReply(DOCUMENTED, 299), 'HTTP/1.1 299 unknown\r\n\r\n'],
  [
    'headers and a body',
    createReply(DOCUMENTED, 200, TEXT, HEADERS),
    'HTTP/1.1 200 OK\r\nMock-Basis: documented\r\n\r\n{}',
  ],
])('a reply without a response object has %s', (_what, reply, text) => {
  expect(formatReply(reply)).toBe(text);
});
