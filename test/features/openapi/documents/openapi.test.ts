import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  assumptionShape,
  chooseOptions,
} from '../../../../src/core/contract/assumption-table.ts';
import {
  OPERATION_IDS,
  OPERATIONS,
  operationShape,
} from '../../../../src/core/contract/operations.ts';
import { INT64, RECORDS } from '../../../../src/core/contract/records.ts';
import { isObject } from '../../../../src/core/json.ts';
import type { ObjectShape } from '../../../../src/core/shape/objects.ts';
import { readAs } from '../../../../src/core/shape/shapes.ts';
import { documentedOnly } from '../../../../src/features/openapi/documented-openapi.ts';
import {
  createServiceOpenApi,
  ERROR_SCHEMA,
} from '../../../../src/features/openapi/service-openapi.ts';

type Json = Readonly<Record<string, unknown>>;

const serverUrl = 'http://127.0.0.1:4010/v1';
const openapi = createServiceOpenApi({ serverUrl, version: '0.0.0' });

/** The object that a path of member names leads to, references followed. */
function at(path: readonly string[], start: object = openapi): Json {
  let found: unknown = start;
  for (const name of path) {
    found = isObject(found) ? found[name] : undefined;
    if (isObject(found) && typeof found.$ref === 'string') {
      found = at(found.$ref.split('/').slice(1));
    }
  }
  if (!isObject(found)) throw new Error(`The document has no object at ${path.join(' > ')}.`);
  return found;
}

type Id = (typeof OPERATION_IDS)[number];

function operationAt(id: Id): Json {
  const { method, path } = operationShape(id);
  return at(['paths', path, method.toLowerCase()]);
}

function replyAt(id: Id, status: number | string): Json {
  return at(['responses', String(status)], operationAt(id));
}

const schemaOf = (record = 'Error') => (record === 'Error' ? ERROR_SCHEMA : record);

/** Every value that a member of this name has, at any depth. */
function everywhere(member: string, value: unknown = openapi): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => everywhere(member, item));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name === member ? [inner] : []),
    ...everywhere(member, inner),
  ]);
}

/** The replies that assumptions add, and the options that lead to them. */
const ASSUMED = ASSUMPTION_IDS.flatMap((assumption) =>
  Object.entries(assumptionShape(assumption).replies ?? {}).flatMap(([option, { status }]) => {
    const ground = `${assumption}=${option}`;
    return assumptionShape(assumption).touches.map((id) => ({ id, status, ground }));
  }),
);

describe('the OpenAPI document', () => {
  test('has the seven operations under their ids, and no other', () => {
    const operations = Object.values(at(['paths'])).flatMap((item) => Object.values(Object(item)));
    expect(operations).toHaveLength(OPERATION_IDS.length);
    for (const id of OPERATION_IDS) {
      expect(operationAt(id)).toMatchObject({
        operationId: id,
        tags: [OPERATIONS[id].tag],
        parameters: OPERATIONS[id].parameters.map(({ name, example }) => ({ name, example })),
      });
    }
  });

  test.each(OPERATION_IDS)(
    'has the documented replies of %s, and those that assumptions add',
    (id) => {
      const { replies } = operationShape(id);
      const added = ASSUMED.filter((it) => it.id === id);
      const statuses = [...Object.keys(replies).map(Number), ...added.map(({ status }) => status)];
      const all = Object.keys(at(['responses'], operationAt(id))).map(Number);
      expect(new Set(all)).toEqual(new Set(statuses));
      for (const status of all) {
        const reply = replyAt(id, status);
        const { description, body, bodyNotShown } = replies[status] ?? {};
        if (description === undefined) {
          const grounds = added.filter((it) => it.status === status).map(({ ground }) => ground);
          expect(reply).toMatchObject({ 'x-mock-basis': 'assumed', 'x-mock-assumptions': grounds });
        } else {
          expect(reply).toMatchObject({ description, 'x-mock-basis': 'documented' });
          expect(reply).not.toHaveProperty('x-mock-assumptions');
        }
        if (description !== undefined && body === undefined) {
          expect(reply.content !== undefined).toBe(bodyNotShown === true);
          continue;
        }
        const item = { $ref: `#/components/schemas/${schemaOf(body?.record)}` };
        expect(reply.content).toMatchObject({
          'application/json': { schema: body?.list ? { type: 'array', items: item } : item },
        });
      }
    },
  );

  test.each([
    ['getPet', 200, 'Deprecation', 'deprecation-headers=sent'],
    ['getPet', 200, 'Sunset', 'deprecation-headers=sent'],
    ['getPet', 410, 'Link', 'deprecation-headers=sent'],
    ['listPets', 200, 'Link', 'pets-paging=cursor'],
    ['listPets', 200, 'X-Total-Count', 'pets-paging=offset'],
    ['listOrders', 401, 'WWW-Authenticate', 'auth-challenge=sent'],
    ['cancelOrder', 429, 'Retry-After', 'rate-limit=10/s'],
  ] as const)('marks on the %s %i its header %s as assumed by %s', (id, status, header, ground) => {
    expect(replyAt(id, status).headers).toHaveProperty([header, 'x-mock-assumptions'], [ground]);
  });

  test('gives every reply of getPet the headers that announce its deprecation', () => {
    const statuses = Object.keys(at(['responses'], operationAt('getPet'))).map(Number);
    expect(statuses).toContain(401);
    for (const status of statuses) {
      expect(replyAt('getPet', status).headers).toHaveProperty('Deprecation');
    }
  });

  test('marks getPet as deprecated with its sunset, and updateInventory as experimental', () => {
    expect(operationAt('getPet')).toMatchObject({ deprecated: true, 'x-sunset': '2030-12-05' });
    expect(everywhere('deprecated')).toEqual([true]);
    expect(operationAt('updateInventory')).toHaveProperty('x-stability', 'experimental');
    expect(everywhere('x-stability')).toEqual(['experimental']);
  });

  const bodies: Record<string, ObjectShape> = {
    ...RECORDS,
    NewAnimal: OPERATIONS.createPet.body.shape,
    StockUpdate: OPERATIONS.updateInventory.body.shape,
  };

  test.each(Object.entries(bodies))(
    'describes the fields of %s, with an example',
    (name, record) => {
      const { members } = record;
      const schema = at(['components', 'schemas', schemaOf(name)]);
      expect(Object.keys(at(['properties'], schema))).toEqual(Object.keys(members));
      for (const [field, { shape, required }] of Object.entries(members)) {
        const property = at(['properties', field], schema);
        expect(property.format === 'int64').toBe(shape === INT64);
        expect(property['x-seen-values']).toEqual(shape.schema['x-seen-values']);
        expect(property).not.toHaveProperty('enum');
        expect(Array.isArray(schema.required) && schema.required.includes(field)).toBe(required);
      }
      // Those of an Error are in its replies.
      if (name === 'Error') return;
      const [example] = Array.isArray(schema.examples) ? schema.examples : [];
      expect(readAs(record, example)).toMatchObject({ ok: true });
      expect(Object.keys(example)).toEqual(Object.keys(members));
    },
  );

  test('has examples of every Error, each with the status of its reply', () => {
    for (const id of OPERATION_IDS) {
      for (const status of Object.keys(at(['responses'], operationAt(id)))) {
        if (Number(status) < 400) continue;
        const path = ['content', 'application/json', 'examples'];
        const examples = Object.entries(at(path, replyAt(id, status)));
        expect(examples, `${id} ${status}`).not.toHaveLength(0);
        for (const [code, example] of examples) {
          const { value } = Object(example);
          expect(readAs(RECORDS.Error, value)).toMatchObject({ ok: true });
          expect(value).toMatchObject({ code, status: Number(status) });
        }
      }
    }
  });

  test('spells the codes of its Errors as chosen, and says that they are assumed', () => {
    const choices = chooseOptions({ 'error-codes': 'numeric' });
    const document = createServiceOpenApi({ serverUrl, version: '0.0.0', choices });
    const reply = ['paths', '/store/orders/{orderId}', 'delete', 'responses', '404'];
    expect(at([...reply, 'content', 'application/json', 'examples'], document)).toMatchObject({
      40401: { value: { code: '40401' }, 'x-mock-assumptions': ['error-codes=numeric'] },
    });
  });

  test.each([
    ['error', 'application/json'],
    ['problem', 'application/problem+json'],
    ['empty', undefined],
  ] as const)('has the body of a 409 under conflict-body=%s', (option, ...types) => {
    const choices = chooseOptions({ 'conflict-body': option });
    const document = createServiceOpenApi({ serverUrl, version: '0.0.0', choices });
    const path = ['paths', '/store/orders/{orderId}', 'delete', 'responses', '409'];
    const { content } = at(path, document);
    expect(Object.keys(Object(content))).toEqual(types.filter(Boolean));
  });

  test('has null for an optional field without a value, if that is how it is written', () => {
    const choices = chooseOptions({ 'absent-optionals': 'null' });
    const { components } = createServiceOpenApi({ serverUrl, version: '0.0.0', choices });
    const { schemas } = Object(components);
    expect(schemas.Order.properties.complete.type).toEqual(['boolean', 'null']);
    expect(schemas.Animal.properties.status.type).toEqual(['string', 'null']);
    expect(schemas.Animal.properties.name.type).toBe('string');
    expect(schemas.NewAnimal.properties.status.type).toBe('string');
  });

  test('names no schema or scheme that generators cannot take as it is', () => {
    const { schemas, securitySchemes } = at(['components']);
    // A type called `Error` would hide JavaScript's own where it is imported.
    expect(Object.keys(Object(schemas)).filter((name) => name in globalThis)).toEqual([]);
    expect(Object.keys(Object(securitySchemes))).toEqual(['bearerAuth']);
  });

  test.each([
    [serverUrl, serverUrl, 'http://127.0.0.1:4010/~staging/v1'],
    ['http://pets:80/v1/', 'http://pets:80/v1', 'http://pets:80/~staging/v1'],
    ['http://pets/~a/v1', 'http://pets/~a/v1', 'http://pets/~staging/v1'],
    ['http://pets/~staging/v1', 'http://pets/~staging/v1'],
  ])('names the server %s and the staging server', (given, ...urls) => {
    const { servers } = createServiceOpenApi({ version: '0.0.0', serverUrl: given });
    expect(servers).toMatchObject(urls.map((url) => ({ url })));
  });
});

test('the document without assumptions has each documented reply, and resolves each reference', () => {
  const documented = documentedOnly(openapi);
  const text = JSON.stringify(documented);
  expect(text).not.toMatch(/assum|mock-basis|x-mock|order_|unauthorized"/i);
  for (const id of OPERATION_IDS) {
    const { method, path, replies } = operationShape(id);
    const { responses } = at(['paths', path, method.toLowerCase()], documented);
    expect(Object.keys(Object(responses)), id).toEqual(Object.keys(replies));
  }
  const used = Array.from(text.matchAll(/#\/components\/(\w+\/\w+)/g), ([, name]) => name);
  const present = ['responses', 'schemas'].flatMap((kind) =>
    Object.keys(at(['components', kind], documented)).map((name) => `${kind}/${name}`),
  );
  expect([...new Set(used)].sort()).toEqual(present.sort());
});
