import type { Fields } from '../contract/records.ts';
import { changedRecord, type Each } from '../shape/record-shapes.ts';
import type { Base } from './base.ts';
import type { Collection } from './collection.ts';

type AnyRecord = Readonly<Record<string, unknown>>;

/** Changes every existing record. Does not affect records that are added later. */
export function changeEach<R extends AnyRecord>(
  collection: Collection<R>,
  fields: Fields,
  each: readonly Each[],
): void {
  if (each.length === 0) return;
  const { base } = collection;
  const status = memberAt(base, 'status', base.statusAt, each);
  // The index of orders by animal checks each order again, so it may hold one without a petId.
  const moves = each.filter(({ change }) => change.petId !== null);
  const petId = memberAt(base, 'petId', base.petIdAt, moves);
  const changed = (before: R): R => {
    let record = before;
    for (const { where, change } of each) {
      if (matches(record, where)) record = changedRecord(fields, record, change);
    }
    return record;
  };
  collection.changeAll(changed, {
    layers: layersOf(base, each),
    statusAt: status && ((position) => textOf(status(position))),
    petIdAt: petId && ((position) => idOf(petId(position))),
  });
}

/** The number of changes that reading a record applies after these. */
export function layersOf(base: Base<unknown>, each: readonly Each[]): number {
  return each.length + (base.layers ?? 0);
}

function matches(record: AnyRecord, where: Each['where']): boolean {
  for (const [name, values] of where) if (!values.has(record[name] ?? null)) return false;
  return true;
}

/** Reads one changed member without its record; undefined if it depends on other members. */
function memberAt(
  base: Base<AnyRecord>,
  name: string,
  before: (position: number) => unknown = (position) => base.at(position)[name],
  each: readonly Each[],
): ((position: number) => unknown) | undefined {
  const changes = each.filter(({ change }) => Object.hasOwn(change, name));
  if (changes.some(({ where }) => where.size > (where.has(name) ? 1 : 0))) return undefined;
  return (position) => {
    let value: unknown = before(position) ?? null;
    for (const { where, change } of changes) {
      if (where.get(name)?.has(value) !== false) value = change[name];
    }
    return value;
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function idOf(value: unknown): bigint | undefined {
  return typeof value === 'bigint' ? value : undefined;
}
