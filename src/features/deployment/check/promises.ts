import type { OperationId } from '../../../core/contract/operations.ts';
import { RECORDS, SEEN_ANIMAL_STATUSES } from '../../../core/contract/records.ts';
import { findHeader } from '../../../core/raw-http.ts';
import type { Probe } from './probes.ts';
import {
  type FacetReader,
  type FacetReaders,
  isFilter,
  isNextPage,
  isWhole,
  limitOf,
  type ProbeExchange,
  type SequenceRun,
  stockOf,
} from './sequence-run.ts';

const isLastFilter = ({ path }: Probe) => path.endsWith(`=${SEEN_ANIMAL_STATUSES.at(-1)}`);

const REPEATED: FacetReader = ({ ids }) => (new Set(ids).size < ids.length ? 'one' : 'none');

const FIELD_NAMES = [RECORDS.Animal, RECORDS.InventoryEntry].flatMap(({ members }) =>
  Object.keys(members).filter((name) => !/^(?:id|petId)$/.test(name)),
);

/** Compares the record with the path's id and the known fields. Returns the first difference. */
const FIELDS: FacetReader = ({ probe, path, records: [record = {}], ids: [id] }, run) => {
  const [, inPath = `${id}`] = /\/(-?\d+)$/.exec(path) ?? [];
  if (inPath !== `${id}`) return `id ${id}`;
  const isNew = id === run.idOf('NEW');
  const created = run.exchanges.find((it) => it?.probe.operation === 'createPet');
  const known = isNew ? created?.probe.sent : run.model.lists.animals.get(id ?? -1n);
  // Another client may change an animal's status at any time.
  const expected = probe.operation === 'getPet' ? { ...known, status: undefined } : probe.sent;
  const other = FIELD_NAMES.find(
    (name) => expected[name] != null && String(expected[name]) !== String(record[name]),
  );
  return other === undefined ? 'as sent or listed' : `${other} ${String(record[other])}`;
};

/** The lists of animals that a run has read with a filter. */
function listFiltered({ exchanges }: SequenceRun): ProbeExchange[] {
  return exchanges.flatMap((it) => (it && isFilter(it.probe) ? it : []));
}

/** Facets that the document prescribes, and that no option changes. */
export const PROMISES: Readonly<Partial<Record<OperationId, FacetReaders>>> = {
  listPets: {
    count: (exchange, { model }) => {
      const { probe, ids, records } = exchange;
      if (isFilter(probe) || isNextPage(probe.path)) return undefined;
      if (records.length < limitOf(probe) && !isWhole(exchange)) return undefined;
      // More than expected is fine, since other clients may add animals.
      return records.length >= model.lists.animals.size ? 'all' : `${ids.length}`;
    },
    repeated: REPEATED,
    'other statuses': ({ probe, records }) => {
      if (!isFilter(probe)) return undefined;
      const statuses = records.map(({ status }) => String(status)).sort();
      // Takes the first, since in the second round the check's own animals may be there, too.
      return statuses.find((status) => !probe.path.endsWith(`=${status}`)) ?? 'none';
    },
    'in no filtered list': ({ probe }, run) => {
      const filtered = listFiltered(run);
      if (!isLastFilter(probe) || !filtered.every((it) => it.isRead && isWhole(it)))
        return undefined;
      const ids = new Set(filtered.flatMap((it) => it.ids));
      const left = [...run.model.lists.animals].find(([id, { status }]) => {
        const isSeen = SEEN_ANIMAL_STATUSES.some((seen) => seen === status);
        return isSeen && !ids.has(id);
      });
      return left === undefined ? 'none' : `${left[1].status} ${left[0]}`;
    },
    'only in a filtered list': ({ probe }, run) => {
      const { animals, hasAllAnimals } = run.model.lists;
      if (!isLastFilter(probe) || !hasAllAnimals) return undefined;
      const ids = listFiltered(run).flatMap((it) => it.ids);
      const id = ids.find((each) => !animals.has(each));
      return id === undefined ? 'none' : `animal ${id}`;
    },
    'animal NEW': (exchange, run) => {
      const { ids, probe } = exchange;
      const [id, before] = [run.idOf('NEW'), run.earlier?.idOf('NEW')];
      const isShown = run.facets.some(({ status, announces }) => announces && status === '200');
      const isPage = ids.length >= limitOf(probe) || !isWhole(exchange);
      if (id === undefined || isPage || !isShown) return undefined;
      if (ids.includes(id)) return 'listed';
      // If the list has the animal of the earlier round instead, it is only behind.
      return ids.includes(before ?? id) ? undefined : 'not listed';
    },
  },
  listInventory: { repeated: REPEATED, 'stock of NEW': stockOf('NEW') },
  listOrders: {
    repeated: REPEATED,
    page: ({ probe, ids }) =>
      probe.path.endsWith('limit=1') ? (ids.length === 1 ? 'one' : 'all') : undefined,
  },
  getPet: {
    fields: FIELDS,
    Sunset: ({ reply: { headers } }) => {
      const sunset = Date.parse(findHeader(headers, 'sunset') ?? '');
      return Number.isNaN(sunset) ? undefined : new Date(sunset).toISOString().slice(0, 10);
    },
  },
  createPet: { fields: FIELDS },
  updateInventory: { fields: FIELDS },
};

export const PROMISED: ReadonlySet<string> = new Set(Object.values(PROMISES).flatMap(Object.keys));
