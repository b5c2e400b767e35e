import type { Animal } from '../contract/records.ts';
import type { Base, Subset } from './base.ts';

/** Positions of a base's animals by status, ascending: 4 bytes an animal. */
type BaseIndex = ReadonlyMap<string, Uint32Array>;

/** A base never changes, so each index is built once and serves every fork and sandbox. */
const indexes = new WeakMap<Base<Animal>, BaseIndex>();

const NO_POSITIONS = new Uint32Array();

/** The animals with a status. The cost of reading them does not grow with the others in the base. */
export function withStatus(base: Base<Animal>, status: string): Subset<Animal> {
  let index = indexes.get(base);
  if (index === undefined) {
    index = build(base);
    indexes.set(base, index);
  }
  const positions = index.get(status) ?? NO_POSITIONS;
  return { positions, includes: (animal) => animal.status === status };
}

function build(base: Base<Animal>): BaseIndex {
  const statusAt = base.statusAt ?? ((position: number) => base.at(position).status);
  const found = new Map<string, number[]>();
  for (let position = 0; position < base.size; position += 1) {
    const status = statusAt(position);
    if (status === undefined) continue;
    const positions = found.get(status);
    if (positions === undefined) found.set(status, [position]);
    else positions.push(position);
  }
  return new Map([...found].map(([status, positions]) => [status, Uint32Array.from(positions)]));
}
