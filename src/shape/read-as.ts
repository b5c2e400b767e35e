import type { Reading } from '../contract/records.ts';
import { MOST_LISTED } from '../words.ts';
import { pathText, type ReportMisfit, type Shape, type ShapeProblem } from './shapes.ts';

/**
 * Reads a parsed JSON or YAML value, and reports every misfit.
 *
 * @param root what paths in problems start with
 */
export function readAs<T>(shape: Shape<T>, value: unknown, root = '$'): Reading<T, ShapeProblem> {
  const problems: ShapeProblem[] = [];
  const read = shape.read(value, [], reportInto(problems, root));
  return read === undefined || problems.length > 0
    ? { ok: false, problems }
    : { ok: true, value: read };
}

/** Adds each misfit that is reported to a list. */
export function reportInto(problems: ShapeProblem[], root?: string): ReportMisfit {
  return ({ at: place, ofName = false, expected, found, hint }) => {
    const at = place.slice();
    const hinted = problems.length < MOST_LISTED && hint ? found + hint() : found;
    problems.push({ at, ofName, expected, found: hinted, path: pathText(at, root) });
  };
}
