import { isObject, parseInput, tryParseJson, writeJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { findHeader, findHeaders, withoutHeaders } from '../raw-http.ts';
import type { Patch } from '../scenario/rule-shape.ts';
import {
  allHeaders,
  type Basis,
  type Content,
  createReply,
  EMPTY,
  mayHaveContent,
  type Reply,
} from '../service/reply.ts';
import { matchesWhere } from '../shape/record-shapes.ts';
import { pathText, type ValuePath } from '../shape/shapes.ts';
import { describe, firstProblems } from '../words.ts';
import { bodyText } from './exchange.ts';

type Change = readonly [place: string | ValuePath, before: unknown, after: unknown];

/** The reply with what the patch changes; the same one if that is nothing. */
export function patchReply(own: Reply, patch: Patch, basis: Basis, isHead = false): Reply {
  const { status = own.status, headers: changed = [] } = patch;
  const isTooLarge = own.size > LIMITS.patchedBody;
  // A deployment's reply to HEAD has no body, and a length only if the deployment says one.
  const hasBody = mayHaveContent(status) && !(isHead && own.body === undefined);
  const [before, after] = hasBody && !isTooLarge ? patchBody(bodyText(own), patch) : [];
  const inBody = listChanges(before, after, []);
  const changes: readonly Change[] = [
    ['status', own.status, status] as const,
    ...changed.map(({ name, values }): Change => {
      const earlier = findHeaders(allHeaders(own), name.toLowerCase());
      return [`header ${name}`, joinValues(earlier), joinValues(values)];
    }),
    ...inBody,
  ].filter(([, old, next]) => old !== next);
  const texts = firstProblems(changes, formatChange);
  const patched = isTooLarge ? [...texts, TOO_LARGE] : texts;
  if (changes.length === 0) return isTooLarge ? { ...own, patched } : own;
  const isNew = inBody.length > 0;
  const names = changed.map(({ name }) => name.toLowerCase());
  const replaced = new Set(names);
  if (isNew) replaced.add('content-encoding');
  if (status !== own.status) replaced.add('content-length');
  if (!mayHaveContent(status)) replaced.add('content-type');
  const added = changed.flatMap(({ name, values }) => values.flatMap((value) => [name, value]));
  const headers = [...withoutHeaders(own.headers, replaced), ...added];
  const hadType = own.size > 0 || findHeader(headers, 'content-type') !== undefined;
  const kept = names.includes('content-type') ? undefined : own.mediaType;
  const content: Content = {
    body: isNew ? writeJson(after) : own.body,
    mediaType: isNew && !hadType ? 'application/json' : kept,
  };
  return {
    ...createReply(basis, status, mayHaveContent(status) ? content : EMPTY, headers, own.reason),
    phrase: status === own.status ? own.phrase : undefined,
    decoded: isNew ? undefined : own.decoded,
    unknownPreference: own.unknownPreference,
    comparison: own.comparison,
    patched,
  };
}

const TOO_LARGE = `body: as it was, since it is larger than ${LIMITS.patchedBody} bytes`;

function joinValues(values: readonly string[]): string | undefined {
  return values.length === 0 ? undefined : values.join(', ');
}

function formatChange([place, before, after]: Change): string {
  const at = typeof place === 'string' ? place : pathText(place);
  return `${at}: ${describe(before)} → ${describe(after)}`;
}

/** What differs between two values of JSON. What becomes an object is one change. */
function listChanges(before: unknown, after: unknown, at: ValuePath): readonly Change[] {
  if (before === after) return [];
  if (isObject(before) && isObject(after)) {
    const [old, next] = [before, after].map((it) => new Map(Object.entries(it)));
    const names = new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])]);
    return [...names].flatMap((name) =>
      listChanges(old?.get(name), next?.get(name), [...at, name]),
    );
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => listChanges(item, after[index], [...at, index]));
  }
  return writeJson(before) === writeJson(after) ? [] : [[at, before, after]];
}

/** Patches a body of JSON; any other stays as it is. */
function patchBody(text: string | undefined, { body, each, items = [] }: Patch): unknown[] {
  const before = text === undefined ? undefined : tryParseJson(text, parseInput);
  if (text !== undefined && before === undefined) return [];
  const patchRecord = (record: unknown): unknown => {
    if (!isObject(record)) return record;
    const first = each === undefined ? record : mergePatch(record, each);
    return items.reduce(
      (after, { where, body: part }) =>
        isObject(after) && matchesWhere(after, where) ? mergePatch(after, part) : after,
      first,
    );
  };
  const whole = body === undefined ? before : mergePatch(before, body);
  return [before, Array.isArray(whole) ? whole.map(patchRecord) : patchRecord(whole)];
}

/** Applies a merge patch, as RFC 7396, section 2 says. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, part] of Object.entries(patch)) {
    if (part === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), part));
  }
  return Object.fromEntries(members);
}
