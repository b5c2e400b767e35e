import type { OperationId } from '../../../core/contract/operations.ts';
import { RECORDS, SEEN_ANIMAL_STATUSES } from '../../../core/contract/records.ts';
import { findHeader } from '../../../core/raw-http.ts';
import type { Probe } from './probes.ts';
import { type Facts, isFilter, isNextPage, isWhole, limitOf, type Read, stockOf } from './scene.ts';

const isLastFilter = ({ path }: Probe) => path.endsWith(`=${SEEN_ANIMAL_STATUSES.at(-1)}`);

const REPEATED: Read = ({ ids }) => (new Set(ids).size < ids.length ? 'one' : 'none');

const FIELD_NAMES = [RECORDS.Animal, RECORDS.InventoryEntry].flatMap(({ members }) =>
  Object.keys(members).filter((name) => !/^(?:id|petId)$/.test(name)),
);

/** Each field that was sent or listed, and the id of the path; the first that differs. */
const FIELDS: Read = ({ probe, path, records: [record = {}], ids: [id], scene }) => {
  const [, inPath = `${id}`] = /\/(-?\d+)$/.exec(path) ?? [];
  if (inPath !== `${id}`) return `id ${id}`;
  const isNew = id === scene.idOf('NEW');
  const known = isNew ? scene.created : scene.world.lists.animals.get(id ?? -1n);
  // Anybody can move the status of an animal.
  const expected = probe.operation === 'getPet' ? { ...known, status: undefined } : probe.sent;
  const other = FIELD_NAMES.find(
    (name) => expected[name] != null && String(expected[name]) !== String(record[name]),
  );
  return other === undefined ? 'as sent or listed' : `${other} ${String(record[other])}`;
};

/** What the document promises: facets that no option changes. */
export const PROMISES: Readonly<Partial<Record<OperationId, Facts>>> = {
  listPets: {
    count: (shown) => {
      const { probe, ids, records, scene } = shown;
      if (isFilter(probe) || isNextPage(probe.path)) return undefined;
      if (records.length < limitOf(probe) && !isWhole(shown)) return undefined;
      // Other clients may add some.
      return records.length >= scene.world.lists.animals.size ? 'all' : `${ids.length}`;
    },
    repeated: REPEATED,
    'other statuses': ({ probe, records }) => {
      if (!isFilter(probe)) return undefined;
      const statuses = records.map(({ status }) => String(status)).sort();
      // The first: the second round may also find the animals that the check has created.
      return statuses.find((status) => !probe.path.endsWith(`=${status}`)) ?? 'none';
    },
    'in no filtered list': ({ probe, scene }) => {
      if (!isLastFilter(probe) || !scene.isFilteredWhole) return undefined;
      const left = [...scene.world.lists.animals].find(([id, { status }]) => {
        const isSeen = SEEN_ANIMAL_STATUSES.some((seen) => seen === status);
        return isSeen && !scene.filtered.has(id);
      });
      return left === undefined ? 'none' : `${left[1].status} ${left[0]}`;
    },
    'only in a filtered list': ({ probe, scene }) => {
      if (!isLastFilter(probe) || !scene.world.lists.hasAllAnimals) return undefined;
      const id = [...scene.filtered].find((each) => !scene.world.lists.animals.has(each));
      return id === undefined ? 'none' : `animal ${id}`;
    },
    'animal NEW': (shown) => {
      const { ids, probe, scene } = shown;
      const [id, before] = [scene.idOf('NEW'), scene.earlier?.idOf('NEW')];
      const isShown = scene.facets.some(({ status, announces }) => announces && status === '200');
      const isPage = ids.length >= limitOf(probe) || !isWhole(shown);
      if (id === undefined || isPage || !isShown) return undefined;
      if (ids.includes(id)) return 'listed';
      // A list that is behind shows the animal of the round before.
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
