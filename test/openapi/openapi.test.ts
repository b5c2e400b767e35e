import { describe, expect, test } from 'vitest';
import { ASSUMPTION_IDS, ASSUMPTIONS } from '../../src/contract/assumption-table.ts';
import { OPERATION_IDS, OPERATIONS, operationShape } from '../../src/contract/operations.ts';
import { type Fields, isObject, RECORDS } from '../../src/contract/records.ts';
import { serviceOpenApi } from '../../src/openapi/service-openapi.ts';
import { readRecord } from '../../src/shape/record-shapes.ts';

type Json = Readonly<Record<string, unknown>>;

const serverUrl = 'http://127.0.0.1:4010/v1';
const openapi = serviceOpenApi({ serverUrl, version: '0.0.0' });

/** The object that a path of member names leads to, references followed. */
function at(path: readonly string[], document: object = openapi): Json {
  let found: unknown = document;
  for (const name of path) {
    found = isObject(found) ? found[name] : undefined;
    if (isObject(found) && typeof found.$ref === 'string') {
      found = at(found.$ref.split('/').slice(1), document);
    }
  }
  if (!isObject(found)) throw new Error(`The document has no object at ${path.join(' > ')}.`);
  return found;
}

function operationPath(id: (typeof OPERATION_IDS)[number]): string[] {
  const { method, path } = operationShape(id);
  return ['paths', path, method.toLowerCase()];
}

function replyAt(id: (typeof OPERATION_IDS)[number], status: number | string): Json {
  return at([...operationPath(id), 'responses', String(status)]);
}

/** Every value that a member of this name has, at any depth. */
function everywhere(member: string, value: unknown = openapi): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => everywhere(member, item));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name === member ? [inner] : []),
    ...everywhere(member, inner),
  ]);
}

describe('the OpenAPI document', () => {
  test('has the seven operations under their ids, and no other', () => {
    const operations = Object.values(at(['paths'])).flatMap((item) => Object.values(Object(item)));
    expect(operations).toHaveLength(OPERATION_IDS.length);
    for (const id of OPERATION_IDS) {
      expect(at(operationPath(id))).toMatchObject({
        operationId: id,
        tags: [OPERATIONS[id].tag],
        parameters: OPERATIONS[id].parameters.map(({ name }) => ({ name })),
      });
    }
  });

  test.each(
    OPERATION_IDS.flatMap((id) =>
      Object.entries(operationShape(id).replies).map(([status, reply]) => ({ id, status, reply })),
    ),
  )('marks the $status of $id as documented', ({ id, status, reply }) => {
    const found = replyAt(id, status);
    expect(found).toMatchObject({ description: reply.description, 'x-mock-basis': 'documented' });
    expect(found).not.toHaveProperty('x-mock-assumptions');
    if (reply.body === undefined && !reply.bodyNotShown)
      expect(found).not.toHaveProperty('content');
    if (reply.body === undefined) return;
    const item = { $ref: `#/components/schemas/${reply.body.record}` };
    expect(found.content).toMatchObject({
      'application/json': { schema: reply.body.list ? { type: 'array', items: item } : item },
    });
  });

  const assumed = ASSUMPTION_IDS.flatMap((assumption) =>
    ASSUMPTIONS[assumption].options.flatMap((option) =>
      'reply' in option
        ? ASSUMPTIONS[assumption].touches.map((id) => ({
            id,
            status: option.reply.status,
            ground: `${assumption}=${option.name}`,
          }))
        : [],
    ),
  );

  test('has no other replies than those that assumptions add, as Errors with their options', () => {
    for (const id of OPERATION_IDS) {
      const all = Object.keys(at([...operationPath(id), 'responses'])).map(Number);
      const added = assumed.filter((it) => it.id === id);
      const documented = Object.keys(OPERATIONS[id].replies).map(Number);
      expect(new Set(all)).toEqual(new Set([...documented, ...added.map(({ status }) => status)]));
      for (const status of all.filter((it) => !documented.includes(it))) {
        const grounds = added.filter((it) => it.status === status).map(({ ground }) => ground);
        const found = replyAt(id, status);
        expect(found).toMatchObject({ 'x-mock-basis': 'assumed', 'x-mock-assumptions': grounds });
        expect(found.content).toHaveProperty(['application/json', 'schema'], {
          $ref: '#/components/schemas/Error',
        });
      }
    }
  });

  test.each([
    { id: 'getPet', status: 200, header: 'Deprecation', ground: 'deprecation-headers=sent' },
    { id: 'getPet', status: 200, header: 'Sunset', ground: 'deprecation-headers=sent' },
    { id: 'getPet', status: 410, header: 'Link', ground: 'deprecation-headers=sent' },
    { id: 'listPets', status: 200, header: 'Link', ground: 'pets-paging=cursor' },
    { id: 'listPets', status: 200, header: 'X-Total-Count', ground: 'pets-paging=offset' },
    { id: 'listOrders', status: 401, header: 'WWW-Authenticate', ground: 'auth-challenge=sent' },
    { id: 'cancelOrder', status: 429, header: 'Retry-After', ground: 'rate-limit=10/s' },
  ] as const)(
    'marks $header on the $status of $id as assumed',
    ({ id, status, header, ground }) => {
      expect(replyAt(id, status).headers).toHaveProperty([header, 'x-mock-assumptions'], [ground]);
    },
  );

  test('marks getPet as deprecated with its sunset, and updateInventory as experimental', () => {
    expect(at(operationPath('getPet'))).toMatchObject({
      deprecated: true,
      'x-sunset': '2030-12-05',
    });
    expect(everywhere('deprecated')).toEqual([true]);
    expect(at(operationPath('updateInventory'))).toHaveProperty('x-stability', 'experimental');
    expect(everywhere('x-stability')).toEqual(['experimental']);
  });

  const bodies: Record<string, Fields> = {
    ...RECORDS,
    NewAnimal: OPERATIONS.createPet.body.fields,
    StockUpdate: OPERATIONS.updateInventory.body.fields,
  };

  test.each(Object.entries(bodies))('describes the fields of %s', (name, fields) => {
    const schema = at(['components', 'schemas', name]);
    expect(Object.keys(at(['properties'], schema))).toEqual(Object.keys(fields));
    for (const [field, { type, required, seen }] of Object.entries(fields)) {
      const property = at(['properties', field], schema);
      expect(property.format === 'int64').toBe(type === 'int64');
      expect(property['x-seen-values']).toBe(seen);
      expect(property).not.toHaveProperty('enum');
      expect(Array.isArray(schema.required) && schema.required.includes(field)).toBe(required);
    }
  });

  test.each(Object.entries(bodies).filter(([name]) => name !== 'Error'))(
    'has an example of %s that is one',
    (name, fields) => {
      const { examples } = at(['components', 'schemas', name]);
      const [example] = Array.isArray(examples) ? examples : [];
      expect(readRecord(fields, example)).toMatchObject({ ok: true });
      expect(Object.keys(example)).toEqual(Object.keys(fields));
    },
  );

  test('has examples of every Error, each with the status of its reply', () => {
    for (const id of OPERATION_IDS) {
      for (const status of Object.keys(at([...operationPath(id), 'responses']))) {
        if (Number(status) < 400) continue;
        const path = [...operationPath(id), 'responses', status, 'content', 'application/json'];
        const examples = Object.entries(at([...path, 'examples']));
        expect(examples, `${id} ${status}`).not.toHaveLength(0);
        for (const [code, example] of examples) {
          const { value } = Object(example);
          expect(readRecord(RECORDS.Error, value)).toMatchObject({ ok: true });
          expect(value).toMatchObject({ code, status: Number(status) });
        }
      }
    }
  });

  test('gives path ids the format int64 and `limit` its bounds', () => {
    const schemas = OPERATION_IDS.flatMap((id) => at(operationPath(id)).parameters).map(
      (parameter) => at(['schema'], Object(parameter)),
    );
    const int64 = { type: 'integer', format: 'int64' };
    const limit = { type: 'integer', minimum: 1, maximum: 100, default: 20 };
    expect(schemas).toEqual([limit, { type: 'string' }, int64, int64, int64]);
  });

  test.each([
    { given: serverUrl, urls: [serverUrl, 'http://127.0.0.1:4010/~staging/v1'] },
    { given: 'http://pets:80/v1/', urls: ['http://pets:80/v1', 'http://pets:80/~staging/v1'] },
    { given: 'http://pets/~a/v1', urls: ['http://pets/~a/v1', 'http://pets/~staging/v1'] },
    { given: 'http://pets/~staging/v1', urls: ['http://pets/~staging/v1'] },
  ])('names the server $given and the staging server', ({ given, urls }) => {
    const document = serviceOpenApi({ version: '0.0.0', serverUrl: given });
    expect(document).toHaveProperty(
      'servers',
      urls.map((url) => expect.objectContaining({ url })),
    );
  });
});
