import type { Animal } from '../contract/records.ts';
import type { Base, Subset } from './base.ts';
import { atOnce, type Work } from './work.ts';

/** Positions of a base's animals by status, ascending: 4 bytes an animal. */
type BaseIndex = ReadonlyMap<string, Uint32Array>;

/** A base never changes, so each index is built once and serves every fork and sandbox. */
const indexes = new WeakMap<Base<Animal>, BaseIndex>();

const NO_POSITIONS = new Uint32Array();

/** The animals with a status. The cost of reading them does not grow with the others in the base. */
export function withStatus(base: Base<Animal>, status: string): Subset<Animal> {
  const positions = atOnce(indexingByStatus(base)).get(status) ?? NO_POSITIONS;
  return { positions, includes: (animal) => animal.status === status };
}

/** Positions that are indexed in one step. */
const POSITIONS_AT_ONCE = 256;

/** Builds the index of a base, unless there is one. */
export function* indexingByStatus(base: Base<Animal>): Work<BaseIndex> {
  const known = indexes.get(base);
  if (known !== undefined) return known;
  const statusAt = base.statusAt ?? ((position: number) => base.at(position).status);
  const found = new Map<string, number[]>();
  for (let position = 0; position < base.size; position += 1) {
    if (position % POSITIONS_AT_ONCE === 0) yield;
    const status = statusAt(position);
    if (status === undefined) continue;
    const positions = found.get(status);
    if (positions === undefined) found.set(status, [position]);
    else positions.push(position);
  }
  const index = new Map([...found].map(([name, at]) => [name, Uint32Array.from(at)] as const));
  indexes.set(base, index);
  return index;
}
