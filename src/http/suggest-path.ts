import { BASE_PATH, OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { suggest } from '../words.ts';
import type { Target } from './target.ts';

/** The paths of the service in segments, a parameter as `{name}`. */
const TEMPLATES = [...new Set(OPERATION_IDS.map((id) => operationShape(id).path))].map((path) =>
  path.slice(1).split('/'),
);

/** Longer paths get no suggestion, which would cost more than it is worth. */
const LONGEST = 200;

/**
 * Suggests the service path that a client probably meant, to follow a wrong path in a message: wrong
 * case, missing, doubled or extra segments and slashes, a spelling mistake. Empty if none is near.
 *
 * @example suggestPath(parseTarget('/pets/1/')) // ' (did you mean /v1/pets/1?)'
 */
export function suggestPath({ path, mount, below }: Target): string {
  if (path.length > LONGEST) return '';
  const all = below.split('/').filter((segment) => segment !== '');
  const from = all.findIndex((segment) => `/${segment.toLowerCase()}` !== BASE_PATH);
  if (from < 0) return ` (did you mean ${mount}${BASE_PATH}${operationShape('listPets').path}?)`;
  const segments = all.slice(from);
  const known = TEMPLATES.map((it) => filled(it, segments)).find((it) => it !== undefined);
  if (known !== undefined) return ` (did you mean ${mount}${known}?)`;
  const alike = TEMPLATES.filter(({ length }) => length === segments.length);
  const candidates = alike.map((it) => mount + pathOf(it, (index) => segments[index] ?? ''));
  return suggest(`${mount}${BASE_PATH}/${segments.join('/').toLowerCase()}`, candidates);
}

/**
 * A template with its parameters taken from segments that end as it does. Either may have more
 * segments in front, but they must have a word in common.
 */
function filled(template: readonly string[], segments: readonly string[]): string | undefined {
  const shift = segments.length - template.length;
  let common = false;
  for (const [index, word] of template.entries()) {
    const segment = segments[index + shift];
    if (segment === undefined || isParameter(word)) continue;
    if (segment.toLowerCase() !== word) return undefined;
    common = true;
  }
  return common ? pathOf(template, (index) => segments[index + shift] ?? '') : undefined;
}

function pathOf(template: readonly string[], parameter: (index: number) => string): string {
  const words = template.map((word, index) => (isParameter(word) ? parameter(index) : word));
  return `${BASE_PATH}/${words.join('/')}`;
}

function isParameter(word: string): boolean {
  return word.startsWith('{');
}
