import {
  type AnyRecord,
  COLLECTIONS,
  type CollectionName,
  STORED_RECORDS,
} from '../../core/contract/records.ts';
import { type ControlCall, edit, type HandledEndpoint } from '../../core/control/endpoint.ts';
import { type ControlReply, NO_CONTENT, refuse, refuseInput } from '../../core/control/reply.ts';
import type { ListQuery } from '../../core/control/store/list-query.ts';
import {
  RECORD_KINDS,
  type RecordVerb,
  recordEndpointId,
} from '../../core/control/store/record-endpoints.ts';
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../core/json.ts';
import { type Outcome, outcome } from '../../core/sandbox/answer.ts';
import type { State } from '../../core/sandbox/state.ts';
import { applyRecordChanges } from '../../core/shape/record-shapes.ts';
import { readWith } from '../../core/shape/shapes.ts';
import { removeRecords, reportMissingAnimal } from '../../core/store/merge.ts';
import { ID_NAME } from '../../core/store/store.ts';
import { recordText } from '../../core/store/store-text.ts';
import { describe } from '../../core/words.ts';
import { createListReply, selectPage } from './select-page.ts';

const NOT_FOUND = {
  animals: 'pet_not_found',
  inventory: 'inventory_entry_not_found',
  orders: 'order_not_found',
} as const;

export const RECORD_HANDLERS = Object.fromEntries(
  COLLECTIONS.flatMap((name) =>
    Object.entries(createRecordHandlers(name)).map(
      ([verb, handle]) => [recordEndpointId(name, verb), handle] as const,
    ),
  ),
);

function createRecordHandlers(
  name: CollectionName,
): Readonly<Record<RecordVerb, HandledEndpoint['handle']>> {
  const { noun } = RECORD_KINDS[name];
  const idName = ID_NAME[name];
  const { members } = STORED_RECORDS[name];
  const searched = Object.keys(members);
  return {
    async list({ sandbox, query }: ControlCall<unknown, ListQuery>) {
      return createListReply(selectPage<AnyRecord>(sandbox.state.store[name], query, searched));
    },
    create: ({ mount, body, ...call }: ControlCall<AnyRecord>) =>
      edit(call, `created ${noun}`, (state) => {
        const records = state.store[name];
        const { [idName]: given } = body;
        const id = typeof given === 'bigint' ? given : (records.highestId ?? 0n) + 1n;
        if (id > INT64_MAX) {
          const message = `no id is left above ${INT64_MAX}`;
          return outcome(state, refuse('ids_exhausted', 507, message));
        }
        if (records.has(id)) {
          const message = `${noun} with the ${idName} ${id} exists`;
          return outcome(state, refuse('already_exists', 409, message));
        }
        const headers = { Location: `${mount}/${name}/${id}` };
        return saveRecord(name, state, id, { [idName]: id, ...body }, { status: 201, headers });
      }),
    get: withId(async ({ sandbox }, id) => {
      const found = sandbox.state.store[name].get(id);
      return found ? { status: 200, content: recordText(found) } : refuseRecord(name, id);
    }),
    put: withId((call, id) =>
      edit(call, `replaced ${stripArticle(noun)} ${id}`, (state) => {
        const status = state.store[name].has(id) ? 200 : 201;
        return saveRecord(name, state, id, { [idName]: id, ...call.body }, { status });
      }),
    ),
    patch: withId((call, id) =>
      edit(call, `changed ${stripArticle(noun)} ${id}`, (state) => {
        const before = state.store[name].get(id);
        if (before === undefined) return outcome(state, refuseRecord(name, id));
        return saveRecord(name, state, id, applyRecordChanges(members, before, call.body));
      }),
    ),
    delete: withId((call, id) =>
      edit(call, `removed ${stripArticle(noun)} ${id}`, (state) => {
        const { store } = state;
        if (!store[name].has(id)) return outcome(state, refuseRecord(name, id));
        return outcome(state, NO_CONTENT, { store: removeRecords(store, name, [id]) });
      }),
    ),
  };
}

function saveRecord<Name extends CollectionName>(
  name: Name,
  state: State,
  id: bigint,
  value: AnyRecord,
  reply: ControlReply = { status: 200 },
): Outcome<ControlReply> {
  const { store } = state;
  const reading = readWith((report) => {
    const record = STORED_RECORDS[name].read(value, [], report);
    const { [ID_NAME[name]]: given, petId }: AnyRecord = record ?? {};
    if (record !== undefined && given !== id) {
      report({ at: [ID_NAME[name]], expected: `${id}, as in the path`, found: String(given) });
    }
    reportMissingAnimal(store.animals, petId, ['petId'], report);
    return record;
  });
  if (!reading.ok) return outcome(state, refuseInput(reading.problems));
  const saved = { ...reply, content: recordText(reading.value) };
  return outcome(state, saved, { store: { ...store, [name]: store[name].with(reading.value) } });
}

function refuseRecord(name: CollectionName, id: bigint): ControlReply {
  const kind = stripArticle(RECORD_KINDS[name].noun);
  return refuse(NOT_FOUND[name], 404, `there is no ${kind} with the ${ID_NAME[name]} ${id}`);
}

function stripArticle(noun: string): string {
  return noun.replace(/^an? /, '');
}

function withId(
  handle: (call: ControlCall<AnyRecord>, id: bigint) => Promise<ControlReply>,
): (call: ControlCall<AnyRecord>) => Promise<ControlReply> {
  return async (call) => {
    const { id: text = '' } = call.params;
    const id = parseInt64(text);
    if (id !== undefined) return handle(call, id);
    const expected = `an integer from ${INT64_MIN} to ${INT64_MAX}`;
    return refuseInput([{ path: 'id in the path', expected, found: describe(text) }]);
  };
}
