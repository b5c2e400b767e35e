import type { Animal } from '../contract/records.ts';
import { arrayText, recordPieces } from '../store/record-text.ts';
import type { Body } from './reply.ts';
import type { World } from './world.ts';

/** Characters of animals that are written at once: their names can have any length. */
const MOST_AT_ONCE = 64 * 1024;

/** A list of animals in pieces, which no client holds as a whole. */
export function animalsBody(world: World, animals: readonly Animal[]): Body {
  return piecesBody(() => arrayText(shown(world, animals)));
}

/** The same of one animal, if it is long. */
export function longAnimalBody(world: World, animal: Animal): Body | undefined {
  const pieces = function* (): Generator<string> {
    for (const it of shown(world, [animal])) yield* recordPieces(it);
  };
  return areLong([animal]) ? piecesBody(pieces) : undefined;
}

/** Whether a text of animals would be too long to be held. */
export function areLong(animals: readonly Animal[]): boolean {
  let length = 0;
  for (const { name, status = '' } of animals) length += name.length + status.length;
  return length > MOST_AT_ONCE;
}

function piecesBody(write: () => Generator<string>): Body {
  return { kind: 'pieces', pieces: { [Symbol.iterator]: write } };
}

/** Animals with the members, and in the order, of replies. */
function* shown({ choices }: World, animals: readonly Animal[]): Generator<object> {
  const absent = choices['absent-optionals'] === 'null' ? { status: null } : {};
  for (const { id, name, categoryId, status } of animals) {
    yield { id, name, categoryId, ...(status === undefined ? absent : { status }) };
  }
}
