import { describe, expect, test } from 'vitest';
import { openMock } from '../../helpers/in-process.ts';

const REX = { name: 'Rex', categoryId: 1 };
const ENTRY = { quantity: 1, status: 'sold' };

/** What is refused, with a part of the message; with 400, or another status. */
type Refused = readonly [body: string | object | undefined, why: string, status?: number];

const REFUSED: Readonly<Record<string, readonly Refused[]>> = {
  'POST animals': [
    [{ name: 'Rex' }, '$.categoryId: expected an integer'],
    [{ ...REX, staus: 'sold' }, 'did you mean status?'],
    [{ ...REX, id: 1 }, 'an animal with the id 1 exists', 409],
    [[REX], 'expected an object, found an array'],
    ['{"__proto__":{"a":1},"name":"a","categoryId":1}', '__proto__'],
  ],
  'POST inventory': [[ENTRY, '$.petId']],
  'POST orders': [[{ petId: 999999 }, 'which no animal has']],
  'PUT animals/1': [[{ ...REX, id: 2 }, '1, as in the path, found 2']],
  'PUT inventory/999999': [[ENTRY, 'no animal has']],
  'PATCH inventory/1': [[{ quantity: 2 ** 53 }, 'to 2^53-1, the limit of the mock, found 9007199']],
  'PUT scenarios/.': [[{ rules: [] }, 'other than . and ..']],
  'PUT scenarios/%2e%2e': [[{ rules: [] }, 'other than . and ..']],
  'PATCH animals/1': [
    [{ name: null }, '$.name: expected a string'],
    [{ id: 5 }, '1, as in the path'],
  ],
  'PATCH animals/999999': [[{ name: 'x' }, 'no animal with the id 999999', 404]],
  'DELETE orders/999999': [[undefined, 'no order with the id 999999', 404]],
  'DELETE animals/9223372036854775808': [[undefined, 'id in the path']],
  'GET animals/__proto__': [[undefined, 'an integer from -9223372036854775808']],
  'GET animals?nmae=Rex': [[undefined, 'did you mean name?']],
  'PUT state': [
    [{ animals: [{ id: 1 }] }, '$.animals[0].name: expected a string, found nothing'],
    [{ orders: [{ id: 1, petId: 5 }] }, '5, which no animal has'],
    [[], 'expected an object with animals'],
  ],
  'PATCH state': [
    [{ animals: [{ id: 1, name: 'New' }, { id: 999999 }] }, '$.animals.set[1]'],
    [{ orders: { each: { petId: 999 } } }, '$.orders.each: expected the id of an animal'],
    ['null', 'found null'],
  ],
  'POST reset': [[{ keep: ['scenarios'] }, 'did you mean scenario?']],
  'POST snapshots': [
    [{ name: 'a b' }, '1 to 64 of'],
    [{ name: '.' }, 'other than . and ..'],
    [{ name: '..' }, 'other than . and ..'],
  ],
  'POST snapshots/none/restore': [[undefined, 'there is no snapshot "none"', 404]],
  'DELETE snapshots/__proto__': [[undefined, 'there is no snapshot "__proto__"', 404]],
  'PUT scenario': [
    [{}, 'expected scenarios, scenario or text'],
    [{ scenarios: 'slow' }, 'an array of scenario names'],
    [{ scenarios: ['slwo'] }, 'did you mean slow?'],
    [{ scenarios: ['/etc/passwd'] }, 'a shipped scenario'],
    [{ scenario: { extends: ['../package.json'] } }, 'a shipped scenario'],
    [{ scenario: { fixture: 'package' } }, '$.scenario.fixture: expected the name of a shipped'],
    [{ scenario: { rules: [{ on: 'getPets' }] } }, '$.scenario.rules[0].on'],
    [{ scenario: { state: { orders: { set: [{ id: 1, petId: 9999 }] } } } }, 'no animal has'],
    [{ text: 'fixture: /etc/passwd' }, 'the name of a shipped fixture'],
    [{ scenario: { generate: { orders: 100_001 } } }, 'at most 100000 in a request'],
  ],
  'PATCH assumptions': [
    [{ 'cancel-again': '404', 'cancel-agian': '404' }, 'did you mean cancel-again?'],
    [{ 'cancel-again': '404', 'unknown-method': '400' }, 'expected 405 or 404'],
    [[], 'an object of options'],
  ],
  'PUT clock': [
    [{}, 'now, frozen or real'],
    [{ now: '1969-12-31T23:59:59Z' }, 'an RFC 3339 instant from 1970'],
    [{ real: true, frozen: true }, 'a real clock cannot be frozen'],
  ],
  'POST clock/advance': [
    [{ by: 'P1M' }, 'an ISO 8601 duration'],
    [{ by: '-P999999999W' }, 'a time from 1970 to 9999'],
  ],
  'GET requests?operation=getpet': [[undefined, 'did you mean getPet?']],
  'GET requests?stauts=404': [[undefined, 'did you mean status?']],
  'GET requests?limit=-1': [[undefined, 'an integer from 0']],
  'GET requests?status=404&status=409': [[undefined, 'an HTTP status, found an array']],
  'GET requests.har?sort=1': [[undefined, 'found "sort"']],
  'GET requests/stream?bases=assumed': [[undefined, 'did you mean basis?']],
  'POST requests/count': [
    [{ status: '404' }, 'an HTTP status'],
    [{ within: 'PT61S' }, '$.within: expected an ISO 8601 duration up to "PT60S"'],
    [{ within: '-PT1S' }, '$.within: expected an ISO 8601 duration up to "PT60S"'],
  ],
  'GET coverage?all=no': [[undefined, 'true or false']],
  'POST holds': [
    [{ on: 'listPets', hold: true, delay: 5 }, 'expected `delay` or `hold`, found both'],
    [{ on: 'listPets', hold: true, apply: true }, 'apply'],
    [{ on: 'getPet', delay: 5 }, '$.hold: expected true, or a name, found nothing'],
  ],
  'POST sandboxes': [
    [{ name: 'staging' }, 'the sandbox staging exists', 409],
    [{ name: 'a b' }, '1 to 64 of'],
  ],
  'DELETE scenarios/slow': [[undefined, 'slow ships and cannot be deleted', 409]],
  'DELETE sandboxes/staging': [[undefined, 'cannot be deleted', 409]],
  'DELETE sandboxes/nobody': [[undefined, 'there is no sandbox "nobody"', 404]],
  'DELETE sandboxes?_limit=1': [[undefined, 'a filter, such as name=a']],
  'DELETE sandboxes?q=': [[undefined, 'a filter, such as name=a, or q=ci-']],
  'DELETE sandboxes?requests=x': [[undefined, 'query.requests: expected an integer']],
};

describe('a call that is refused', () => {
  test('says why, and changes nothing', async () => {
    const { control } = await openMock({ clock: 1e12, frozen: true });
    const all = async () => {
      const paths = ['state', 'scenario', 'assumptions', 'clock', 'snapshots', 'sandboxes'];
      const texts = await Promise.all(paths.map(async (it) => (await control(`GET ${it}`)).text));
      return texts.map((it) => it.replaceAll(/"lastUsed":"[^"]+"/g, ''));
    };
    const before = await all();
    for (const [call, rows] of Object.entries(REFUSED)) {
      for (const [body, why, status = 400] of rows) {
        const reply = await control(call, body);
        const error = { code: expect.any(String), status, message: expect.stringContaining(why) };
        expect([call, body, reply.status, reply.json]).toMatchObject([call, body, status, error]);
      }
    }
    expect(await all()).toEqual(before);
  });
});
