import type { Reading } from '../contract/records.ts';
import { MOST_HINTS } from '../words.ts';
import type { Work } from '../work.ts';
import { type Later, pathText, type Shape, type ShapeProblem, type Tell } from './shapes.ts';

/** Reads a parsed JSON or YAML value, and reports every misfit. */
export function readAs<T>(shape: Shape<T>, value: unknown): Reading<T, ShapeProblem> {
  const problems: ShapeProblem[] = [];
  return outcome(shape.read(value, [], tellInto(problems)), problems);
}

function outcome<T>(
  read: T | undefined,
  problems: readonly ShapeProblem[],
): Reading<T, ShapeProblem> {
  return read === undefined || problems.length > 0
    ? { ok: false, problems }
    : { ok: true, value: read };
}

/** `readAs` with each element of a long array as a step. */
export function* readingAs<T>(shape: Shape<T>, value: unknown): Work<Reading<T, ShapeProblem>> {
  const problems: ShapeProblem[] = [];
  const tell = tellInto(problems);
  const lists: Later[] = [];
  // Finds the long arrays. What else it reads or reports is read again below.
  const finding: Tell = Object.assign(() => undefined, { later: (it: Later) => lists.push(it) });
  shape.read(value, [], finding);
  for (const read of lists) yield* read(tell);
  return outcome(shape.read(value, [], tell), problems);
}

/** Adds each misfit that is reported to a list. */
export function tellInto(problems: ShapeProblem[]): Tell {
  return ({ at: place, ofName = false, expected, found, hint }) => {
    const at = place.slice();
    const hinted = problems.length < MOST_HINTS && hint ? found + hint() : found;
    problems.push({ at, ofName, expected, found: hinted, path: pathText(at) });
  };
}
