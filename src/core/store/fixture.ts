import { COLLECTIONS, type CollectionName, STORED_RECORDS } from '../contract/records.ts';
import { isObject, type Json, toInt64 } from '../json.ts';
import type { Platform } from '../platform.ts';
import { ContentError, createFileProblem } from '../problems.ts';
import { object, optional } from '../shape/objects.ts';
import { type InputOf, list, type ReportMisfit, type Shape } from '../shape/shapes.ts';
import { joinWords, suggest } from '../words.ts';
import { reportMissingAnimal } from './merge.ts';
import { createStore, ID_NAME, type Store } from './store.ts';

/** The fixtures that ship, each a file in `fixtures/`. */
const FIXTURE_NAMES: readonly string[] = ['default'];

export function isShippedFixture(name: string): boolean {
  return FIXTURE_NAMES.includes(name);
}

/** Thrown for a fixture that cannot be used. Its message lists the problems with their places. */
export class FixtureError extends ContentError {
  override readonly name = 'FixtureError';
}

/** @param file the name in the message */
export function unreadableFixture(file: string, found: string): FixtureError {
  const expected = `a fixture file, or the name of a shipped one: ${joinWords(FIXTURE_NAMES, 'or')}`;
  const hinted = found + suggest(file, FIXTURE_NAMES);
  const message = `${file}: expected ${expected}; found ${hinted}`;
  return new FixtureError([createFileProblem(file, expected, hinted, message)]);
}

/** Reads a fixture without validating it: tests validate those that ship. */
export function readShippedFixture(texts: Pick<Platform, 'shippedText'>, name: string): Store {
  if (!isShippedFixture(name)) throw unreadableFixture(name, 'nothing');
  const readIds = (member: string, value: unknown) =>
    typeof value === 'number' && /id$/i.test(member) ? BigInt(value) : value;
  return createStore(JSON.parse(texts.shippedText(`fixtures/${name}.json`), readIds));
}

const WHOLE = object(
  {
    animals: optional(list(STORED_RECORDS.animals), 'Every animal.'),
    inventory: optional(
      list(STORED_RECORDS.inventory),
      'Inventory entries, at most one for each animal.',
    ),
    orders: optional(list(STORED_RECORDS.orders), 'Orders, with their internal `status`.'),
  },
  { expected: `an object with ${joinWords(COLLECTIONS, 'and')}` },
);

/** Missing collections are empty, ids are unique, and each petId is that of an animal. */
export const STORE: Shape<Store, InputOf<typeof WHOLE>> = {
  ...WHOLE,
  read(document, at, report) {
    const store = WHOLE.read(document, at, report);
    const lists: Json = isObject(document) ? document : {};
    const ids = reportWrongIds(lists.animals, 'animals', report);
    // If the list of animals itself is broken, that has its own problem.
    const animals = lists.animals === undefined || Array.isArray(lists.animals) ? ids : undefined;
    reportWrongIds(lists.inventory, 'inventory', report, animals);
    reportWrongIds(lists.orders, 'orders', report, animals);
    return store && createStore(store);
  },
};

/** Checks ids, of broken records too, to report all problems. Returns the place of each id. */
function reportWrongIds(
  list: unknown,
  name: CollectionName,
  report: ReportMisfit,
  animals?: ReadonlyMap<bigint, number>,
): ReadonlyMap<bigint, number> {
  const values: readonly unknown[] = Array.isArray(list) ? list : [];
  const positions = new Map<bigint, number>();
  for (const [index, value] of values.entries()) {
    const members: Json = isObject(value) ? value : {};
    const id = toInt64(members[ID_NAME[name]]);
    const first = id === undefined ? undefined : positions.get(id);
    if (first !== undefined) {
      const expected = `an id that no other record of ${name} has`;
      const found = `${id}, as in $.${name}[${first}]`;
      report({ at: [name, index, ID_NAME[name]], expected, found });
    } else if (id !== undefined) positions.set(id, index);
    if (animals) {
      reportMissingAnimal(animals, toInt64(members.petId), [name, index, 'petId'], report);
    }
  }
  return positions;
}
