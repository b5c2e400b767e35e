import { createLists } from './facets.ts';
import type { Exhibit } from './predict.ts';
import {
  type CheckOptions,
  missingNeeds,
  type Probe,
  STORIES,
  type Story,
  UNASKED,
} from './probes.ts';
import { aboutOrder, createWorld } from './world.ts';

const IDEAL_NOW = Date.UTC(2026, 0, 1);
const AFTER_SUNSET = Date.UTC(2031, 0, 1);

/** Records of which each assumption shows something. */
const IDEAL = createLists([
  Array.from({ length: 21 }, (_, at) => ({
    id: at + 1,
    name: 'Rex',
    categoryId: 1,
    status: at % 2 === 0 ? 'sold' : null,
  })),
  [{ petId: 1, quantity: 0, status: 'sold' }],
  [1, 2, 3, 4].map((id) => ({
    ...{
      id,
      petId: 1,
      quantity: 2,
      status: ['pending', 'pending', 'shipped', 'cancelled'][id - 1],
    },
    shipDate: `202${id === 2 ? 5 : 7}-01-01T00:00:00Z`,
  })),
]);

/** The stories that were not asked, as they would be of a deployment that has all they need. */
export function listUnasked(options: CheckOptions): Exhibit[] {
  const world = createWorld(IDEAL, { stock: 1n }, IDEAL_NOW);
  const exhibit = (story: Story, due = false): Exhibit => {
    const word = story.probes.flatMap(
      ({ path }: Probe) => /CANCELLED|SHIPPED|CANCEL/.exec(path) ?? [],
    )[0];
    const id = word === 'CANCELLED' ? 4n : word === 'SHIPPED' ? 3n : due ? 2n : 1n;
    return { story, world: word === undefined ? world : aboutOrder(world, word, id), seen: [] };
  };
  const missing = STORIES.filter((story) => missingNeeds(story, options).length > 0);
  const late = createWorld(IDEAL, {}, AFTER_SUNSET);
  return [
    ...missing.map((story) => exhibit(story)),
    exhibit(UNASKED.name),
    exhibit(UNASKED.due, true),
    { story: UNASKED.sunset, world: late, seen: [] },
  ];
}
