import { isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { OPERATION_IDS, operationShape } from '../../../core/contract/operations.ts';
import { listAlternatives, listMembers, listValues, type Schema } from './rules.ts';

interface Completion {
  readonly text: string;
  readonly help: string;
}

export interface Completions {
  /** What a completion replaces. */
  readonly start: number;
  readonly end: number;
  readonly items: readonly Completion[];
}

/** A word that no scenario has. */
const CARET = 'c4r3t';

/** A key can stand here: at the start of a line or an item, or within braces. */
const KEY_PLACE = /(?:^|\n)[ \t]*(?:- +)*$|[{,]\s*$/;

const STATUSES = OPERATION_IDS.flatMap((id) => Object.keys(operationShape(id).replies));

/**
 * What the schema knows that can stand at a place in the YAML of a scenario, as it is written so far.
 *
 * @param scenarios the names that `extends` can have
 */
export function complete(
  text: string,
  caret: number,
  schema: Schema,
  scenarios: readonly string[],
): Completions {
  const [word = ''] = /(?:[\w"*][\w.*"-]*)?$/.exec(text.slice(0, caret)) ?? [];
  const [rest = ''] = /^[\w.*"-]*/.exec(text.slice(caret)) ?? [];
  const [start, end] = [caret - word.length, caret + rest.length];
  const [before, after] = [text.slice(0, start), text.slice(end)];
  const colon = /^\s*:/.test(after) ? '' : ': ';
  const listKeys = (path: Path) =>
    path
      .reduce<readonly Schema[]>(listMembers, [schema])
      .flatMap((one) => listAlternatives(one).flatMap((it) => Object.entries(it.properties ?? {})))
      .map(([name, { description: help = '' }]) => ({ text: name + colon, help }));
  const listKnown = (path: Path) => {
    const known = path.reduce<readonly Schema[]>(listMembers, [schema]).flatMap(listValues);
    if (path.at(-1) === 'status' && known.length === 0) known.push(...STATUSES);
    if (path[0] === 'extends') known.push(...scenarios);
    return [...new Set(known)].map((value) => ({
      text: /^[\w.-]+$/.test(value) ? value : JSON.stringify(value),
      help: '',
    }));
  };
  const key = KEY_PLACE.test(before) ? findPath(before + CARET + colon + after, 'key') : undefined;
  const value = findPath(before + CARET + after, 'value');
  const items = [...(key ? listKeys(key) : []), ...(value ? listKnown(value) : [])];
  const isNear = (item: Completion) => item.text.toLowerCase().includes(word.toLowerCase());
  return { start, end, items: items.filter(isNear) };
}

type Path = readonly unknown[];

/** The path of the key or value at the caret; undefined if the caret is at the other kind. */
function findPath(yaml: string, wanted: 'key' | 'value'): Path | undefined {
  let path: Path | undefined;
  visit(parseDocument(yaml), {
    Scalar(role, { value }, ancestors) {
      if (value !== CARET) return undefined;
      if ((role === 'key') === (wanted === 'key')) {
        path = (role === 'key' ? ancestors.slice(0, -1) : ancestors).flatMap((node) =>
          isPair(node) && isScalar(node.key) ? [node.key.value] : isSeq(node) ? [0] : [],
        );
      }
      return visit.BREAK;
    },
  });
  return path;
}
