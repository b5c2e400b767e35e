import type { Animal } from '../contract/records.ts';
import { atOnce, inTurns } from '../work.ts';
import type { Base, Subset } from './base.ts';
import { baseIndex } from './base-index.ts';

/** Positions of a base's animals by status, ascending: 8 bytes an animal. */
const indexing = baseIndex((base: Base<Animal>) => {
  const index = new Map<string, number[]>();
  const statusAt = base.statusAt ?? ((position: number) => base.at(position).status);
  const add = (position: number): void => {
    const status = statusAt(position);
    if (status === undefined) return;
    const positions = index.get(status);
    if (positions === undefined) index.set(status, [position]);
    else positions.push(position);
  };
  return { index, add };
});

/** The animals with a status. The cost of reading them does not grow with the others in the base. */
export function withStatus(base: Base<Animal>, status: string): Subset<Animal> {
  const positions = atOnce(indexing(base)).get(status) ?? [];
  return { positions, includes: (animal) => animal.status === status };
}

/** Builds the index of a base in turns with requests: the first list would do it in one step. */
export async function indexByStatus(base: Base<Animal>): Promise<void> {
  await inTurns(indexing(base));
}
