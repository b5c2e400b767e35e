import { isObject, parseInput, plainNumber, tryParseJson, writeJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { findHeader, findHeaders, type RawHeaders, withoutHeaders } from '../raw-http.ts';
import type { Patch } from '../scenario/patch-shape.ts';
import {
  type Basis,
  type Content,
  createReply,
  EMPTY,
  mayHaveContent,
  type Reply,
} from '../service/reply.ts';
import { pathText, type ValuePath } from '../shape/shapes.ts';
import { describe, firstProblems } from '../words.ts';
import { bodyText } from './exchange.ts';

/** What a patch has changed, each as `PLACE: BEFORE → AFTER`. */
class Changes {
  count = 0;
  readonly #first: string[] = [];

  get texts(): readonly string[] {
    return firstProblems(this.#first, String);
  }

  add(place: string | ValuePath, before: unknown, after: unknown): void {
    if (before === after || writeJson(before) === writeJson(after)) return;
    this.count += 1;
    if (this.#first.length > LIMITS.problems) return;
    const at = typeof place === 'string' ? place : pathText(place);
    this.#first.push(`${at}: ${describe(before)} → ${describe(after)}`);
  }
}

/** The reply with what the patch changes; the same one if that is nothing. */
export function patchReply(own: Reply, patch: Patch, basis: Basis): Reply {
  const changes = new Changes();
  const { status = own.status } = patch;
  changes.add('status', own.status, status);
  let { mediaType } = own;
  const replaced = new Set(['content-length']);
  const added: string[] = [];
  for (const { name, values } of patch.headers ?? []) {
    const known = name.toLowerCase();
    const before = known === 'content-type' ? mediaType : undefined;
    const after = values.length === 0 ? undefined : values.join(', ');
    changes.add(`header ${name}`, before ?? joinValues(own.headers, known), after);
    if (known === 'content-type') mediaType = undefined;
    replaced.add(known);
    added.push(...values.flatMap((value) => [name, value]));
  }
  const isTooLarge = own.size > LIMITS.patchedBody;
  const body = isTooLarge ? undefined : patchBody(bodyText(own), patch, changes);
  const patched = isTooLarge ? [...changes.texts, TOO_LARGE] : changes.texts;
  if (changes.count === 0) return isTooLarge ? { ...own, patched } : own;
  if (body !== undefined) replaced.add('content-encoding');
  if (!mayHaveContent(status)) replaced.add('content-type');
  const headers = [...withoutHeaders(own.headers, replaced), ...added];
  if (body !== undefined && own.size === 0 && findHeader(headers, 'content-type') === undefined) {
    mediaType = 'application/json';
  }
  const content: Content = mayHaveContent(status) ? { body: body ?? own.body, mediaType } : EMPTY;
  return {
    ...createReply(basis, status, content, headers, own.reason),
    phrase: status === own.status ? own.phrase : undefined,
    decoded: body === undefined ? own.decoded : undefined,
    unknownPreference: own.unknownPreference,
    comparison: own.comparison,
    patched,
  };
}

const TOO_LARGE = `body: as it was, since it is larger than ${LIMITS.patchedBody} bytes`;

function joinValues(headers: RawHeaders, name: string): string | undefined {
  const values = findHeaders(headers, name);
  return values.length === 0 ? undefined : values.join(', ');
}

/** Undefined if it stays: JSON alone can be patched. */
function patchBody(
  text: string | undefined,
  { body, each, items = [] }: Patch,
  changes: Changes,
): string | undefined {
  if (body === undefined && each === undefined && items.length === 0) return undefined;
  const before = text === undefined ? undefined : tryParseJson(text, parseInput);
  if (text !== undefined && before === undefined) return undefined;
  const { count } = changes;
  const patchRecord = (record: unknown, at: ValuePath): unknown => {
    if (!isObject(record)) return record;
    let after = each === undefined ? record : mergePatch(record, each, at, changes);
    for (const { where, body: part } of items) {
      const isMeant = isObject(after) && matches(after, where);
      if (isMeant) after = mergePatch(after, part, at, changes);
    }
    return after;
  };
  const whole = body === undefined ? before : mergePatch(before, body, [], changes);
  const after = Array.isArray(whole)
    ? whole.map((record, index) => patchRecord(record, [index]))
    : patchRecord(whole, []);
  return changes.count > count && after !== undefined ? writeJson(after) : undefined;
}

type Where = NonNullable<Patch['items']>[number]['where'];

function matches(record: Readonly<Record<string, unknown>>, where: Where): boolean {
  return where.every(([name, values]) => {
    const member = Object.hasOwn(record, name) ? plainNumber(record[name]) : null;
    return values.some(({ value }) => value === member);
  });
}

/** RFC 7396, section 2. What becomes an object is one change. */
function mergePatch(target: unknown, patch: unknown, at: ValuePath, changes?: Changes): unknown {
  if (!isObject(patch)) {
    changes?.add(at, target, patch);
    return patch;
  }
  const isMerged = isObject(target);
  if (!isMerged) changes?.add(at, target, patch);
  const members = new Map(isMerged ? Object.entries(target) : []);
  for (const [name, part] of Object.entries(patch)) {
    const place = [...at, name];
    const inside = isMerged ? changes : undefined;
    if (part !== null) members.set(name, mergePatch(members.get(name), part, place, inside));
    else if (members.delete(name)) changes?.add(place, Object(target)[name], undefined);
  }
  return Object.fromEntries(members);
}
