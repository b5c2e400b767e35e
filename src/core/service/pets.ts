import type { Choices } from '../contract/assumption-table.ts';
import { OPERATIONS, SUNSET_ENDS } from '../contract/operations.ts';
import { type Animal, SEEN_ANIMAL_STATUSES } from '../contract/records.ts';
import { INT64_MAX } from '../json.ts';
import { DEFAULTS } from '../limits.ts';
import type { Shape } from '../shape/shapes.ts';
import { randomForId } from '../store/random.ts';
import type { InputReader } from './input.ts';
import { operation, type ServiceState } from './operation.ts';
import { type AnimalFilter, type PetsQuery, petsPageReply, readCursor } from './pets-page.ts';
import { type AssumptionTrace, errorReply, jsonReply, type Reply } from './reply.ts';

const [LIMIT] = OPERATIONS.listPets.parameters;
const MAX_NAME_LENGTH = 255;

export const listPets = operation('listPets', readListPets, (state, page, decidedBy, call) =>
  petsPageReply(decidedBy, state, page, call),
);

function readListPets(reader: InputReader): PetsQuery {
  const query = reader.query();
  const { cursor, offset } = query;
  const limit = readLimit(reader, query.limit);
  return {
    limit,
    filters: FILTER_PARAMETERS.flatMap((parameter) => {
      const { [parameter.name]: text } = query;
      const { [parameter.name]: readFilter = compareField(parameter) } = FILTERS;
      return (text === undefined ? undefined : readFilter(reader, text)) ?? [];
    }),
    after: cursor === undefined ? undefined : readCursor(reader, cursor),
    offset: offset === undefined ? 0 : readOffset(reader, offset),
  };
}

interface FilterParameter {
  readonly name: keyof Animal;
  readonly shape: Shape<unknown>;
}

type ReadFilter = (reader: InputReader, text: string) => AnimalFilter | undefined;

const FILTER_PARAMETERS: readonly FilterParameter[] = OPERATIONS.listPets.parameters.flatMap(
  (parameter) => (parameter.name === 'limit' ? [] : parameter),
);

/** Filters that do more than compare a value. */
const FILTERS: { readonly [Name in keyof Animal]?: ReadFilter } = { status: readStatusFilter };

function compareField({ name, shape }: FilterParameter): ReadFilter {
  return (reader, text) => {
    const value = reader.value(name, shape, text);
    return value === undefined ? undefined : (animal) => animal[name] === value;
  };
}

function readLimit(reader: InputReader, text: string | undefined): number {
  if (text === undefined) return LIMIT.default;
  const expected = `an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;
  const limit = reader.integer(LIMIT.name, text, expected);
  if (limit === undefined || (limit >= LIMIT.minimum && limit <= LIMIT.maximum)) {
    return limit ?? LIMIT.default;
  }
  const choice = reader.decidedBy.choices['limit-out-of-range'];
  if (choice === 'reject') {
    reader.problem(`limit: expected ${expected}, found ${text}`, 'limit-out-of-range');
    return LIMIT.default;
  }
  reader.addAcceptedBy('limit-out-of-range');
  return choice === 'clamp'
    ? Math.min(Math.max(limit, LIMIT.minimum), LIMIT.maximum)
    : LIMIT.default;
}

function readOffset(reader: InputReader, text: string): number {
  const expected = 'an integer of at least 0';
  const offset = reader.integer('offset', text, expected);
  if (offset !== undefined && offset < 0)
    reader.problem(`offset: expected ${expected}, found ${text}`);
  return offset ?? 0;
}

function isSeenStatus(status: string): boolean {
  return SEEN_ANIMAL_STATUSES.some((seen) => seen === status);
}

function readStatusFilter(reader: InputReader, status: string): AnimalFilter | undefined {
  const hasStatus: AnimalFilter = (animal) => animal.status === status;
  if (isSeenStatus(status)) return hasStatus;
  const { choices } = reader.decidedBy;
  const choice = choices['status-filter'];
  if (choices['animal-status-values'] === 'any') {
    if (choice === 'reject') reader.addAcceptedBy('animal-status-values');
    return hasStatus;
  }
  if (choice === 'reject') {
    reader.problem(
      `status: expected one of ${SEEN_ANIMAL_STATUSES.join(', ')}, found ${JSON.stringify(status)}`,
      'status-filter',
      'animal-status-values',
    );
  } else reader.addAcceptedBy('status-filter');
  return choice === 'ignore' ? undefined : () => false;
}

export const createPet = operation('createPet', readNewAnimal, (state, fields, decidedBy) => {
  const id = nextId(state, decidedBy);
  if (id === undefined) {
    const message = 'no id is left: the highest int64 has been used';
    return errorReply(decidedBy, 'ids_exhausted', 507, message);
  }
  const { choices, store, represent } = state;
  const isAvailable = fields.status === undefined && choices['created-status'] === 'available';
  const animal: Animal = { id, ...fields, ...(isAvailable && { status: 'available' }) };
  const animals = store.animals.with(animal);
  const inventory =
    choices['inventory-on-create'] === 'entry'
      ? store.inventory.with({ petId: id, quantity: 0, status: 'sold' })
      : store.inventory;
  const reply = jsonReply(decidedBy, 201, represent.animal(animal));
  return { reply, store: { animals, inventory, orders: store.orders } };
});

function readNewAnimal(reader: InputReader): Omit<Animal, 'id'> | undefined {
  reader.query();
  const body = reader.body(OPERATIONS.createPet.body.shape, ['id']);
  if (body === undefined) return undefined;
  const { name, status } = body.fields;
  if (body.names.includes('id')) {
    const problem = 'body.id is not allowed: the service assigns the id';
    reader.refuseUnless('id-on-create', 'ignore', problem);
  }
  readNameLength(reader, name);
  if (status !== undefined && !isSeenStatus(status)) {
    const problem = `body.status: expected one of ${SEEN_ANIMAL_STATUSES.join(', ')}`;
    reader.refuseUnless('animal-status-values', 'any', problem);
  }
  return body.fields;
}

function readNameLength(reader: InputReader, name: string): void {
  // JSON Schema counts characters in code points.
  const length = name.length > MAX_NAME_LENGTH ? [...name].length : name.length;
  const choice = reader.decidedBy.choices['name-limits'];
  if (length > 0 && length <= MAX_NAME_LENGTH) return;
  if (choice === '255' || (choice === 'non-empty' && length === 0)) {
    const expected =
      choice === '255' ? `1 to ${MAX_NAME_LENGTH} characters` : 'at least one character';
    reader.problem(`body.name: expected ${expected}, found ${length}`, 'name-limits');
  } else reader.addAcceptedBy('name-limits');
}

/** 2025-12-05 in seconds since 1970. Made up, as the successor's address is. */
const DEPRECATED_AT = 1_764_892_800;

const DEPRECATION_HEADERS: readonly string[] = [
  'Deprecation',
  `@${DEPRECATED_AT}`,
  'Sunset',
  new Date(OPERATIONS.getPet.sunset).toUTCString(),
  'Link',
  '<https://petstore.example/docs/pets>; rel="successor-version"',
];

export const getPet = operation(
  'getPet',
  (reader) => {
    reader.query();
    return reader.pathId('petId');
  },
  (state, petId, decidedBy) => {
    const gone = afterSunset(state, decidedBy);
    if (gone !== undefined) return gone;
    const animal = state.store.animals.get(petId);
    if (animal === undefined) return unknownPet(state, petId, decidedBy);
    return jsonReply(decidedBy, 200, state.represent.animal(animal));
  },
  deprecationHeaders,
);

export function deprecationHeaders(choices: Choices): readonly string[] {
  return choices['deprecation-headers'] === 'absent' ? [] : DEPRECATION_HEADERS;
}

function afterSunset(state: ServiceState, decidedBy: AssumptionTrace): Reply | undefined {
  if (state.now < SUNSET_ENDS) return undefined;
  const choice = state.choices['after-sunset'];
  decidedBy.add('after-sunset');
  if (choice === 'unchanged') return undefined;
  const status = choice === '410' ? 410 : 404;
  const message = `GET /pets/{petId} was sunset on ${OPERATIONS.getPet.sunset}`;
  return errorReply(decidedBy, 'gone', status, message);
}

export function unknownPet(state: ServiceState, petId: bigint, decidedBy: AssumptionTrace): Reply {
  decidedBy.add('unknown-pet');
  const status = state.choices['unknown-pet'] === '400' ? 400 : 404;
  return errorReply(decidedBy, 'pet_not_found', status, `no animal has the id ${petId}`);
}

/** Above 2^53, doubles cannot represent every integer. */
const BEYOND_DOUBLES = 2n ** 53n;

/** Undefined if `assigned-ids=next` has no int64 left. */
function nextId(state: ServiceState, decidedBy: AssumptionTrace): bigint | undefined {
  const { animals } = state.store;
  const next = (animals.highestId ?? 0n) + 1n;
  const exhausted = next > INT64_MAX;
  // Only when ids are exhausted do the options lead to different statuses.
  if (exhausted) decidedBy.add('assigned-ids');
  if (state.choices['assigned-ids'] === 'next') return exhausted ? undefined : next;
  const { seed = DEFAULTS.seed } = state.options;
  for (let count = BigInt(animals.size); ; count += 1n) {
    const high = BigInt(randomForId(seed, count, 'assignedHigh') >>> 2);
    const low = BigInt(randomForId(seed, count, 'assignedLow'));
    // An odd id above 2^53 is one that a double cannot hold.
    const id = BEYOND_DOUBLES + (((high << 32n) | low) >> 1n) * 2n + 1n;
    if (!animals.has(id)) return id;
  }
}
