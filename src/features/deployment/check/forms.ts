import { isObject } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import type { ObjectShape } from '../../../core/shape/objects.ts';
import type { DeploymentReply, ReplyRecord } from '../deployment-reply.ts';
import { CHECK_NAME, type Probe } from './probes.ts';

/** Fewer animals than these can be in order by chance. */
const MIN_ORDERED = 8;

/** The share of neighbours in ascending order from which a list does not count as shuffled. */
const MAX_SORTED_SHARE = 0.8;

export function bodyForm({ headers, body }: DeploymentReply, json: unknown): string {
  if (body.length === 0) return 'none';
  const [type = ''] = (findHeader(headers, 'content-type') ?? 'no type').split(';');
  const media = type.trim().toLowerCase();
  if (json === undefined) return `${media}, not JSON`;
  const isError = isObject(json) && ['code', 'message', 'status'].every((name) => name in json);
  const form = Array.isArray(json)
    ? 'list'
    : media === 'application/json' && isError
      ? 'Error'
      : typeof json;
  return `${media} ${form}`;
}

export function headerFacets(probe: Probe, { status, headers }: DeploymentReply) {
  const header = (name: string) => findHeader(headers, name);
  const type = header('content-type') ?? '';
  const [, charset] = /;\s*charset="?([\w-]+)/i.exec(type) ?? [];
  const scheme = header('www-authenticate')?.split(' ')[0]?.toLowerCase();
  const announced = ['deprecation', 'sunset', 'link'].filter((name) => header(name) !== undefined);
  const sunset = Date.parse(header('sunset') ?? '');
  const isPet = probe.operation === 'getPet' && (status < 300 || status === 410);
  return {
    ...(/^application\/(?:\w+\+)?json\b/i.test(type) && {
      charset: charset?.toLowerCase() ?? 'none',
    }),
    ...(status === 401 && { challenge: scheme ?? 'none' }),
    ...(status === 405 && { Allow: header('allow') === undefined ? 'none' : 'sent' }),
    ...(isPet && { announces: announced.join(', ') || 'nothing' }),
    ...(Number.isFinite(sunset) && { sunset: new Date(sunset).toISOString().slice(0, 10) }),
    ...(probe.headers.Origin !== undefined && { CORS: describeCors(header, probe.headers.Origin) }),
  };
}

function describeCors(header: (name: string) => string | undefined, origin: string): string {
  const allowed = header('access-control-allow-origin');
  return allowed === '*' || allowed === origin ? 'allowed' : (allowed ?? 'none');
}

const SPELLINGS: Readonly<Record<string, RegExp>> = {
  snake_case: /^[a-z0-9]+(?:_[a-z0-9]+)+$/,
  'kebab-case': /^[a-z0-9]+(?:-[a-z0-9]+)+$/,
  UPPER_CASE: /^(?!\d+$)[A-Z0-9]+(?:_[A-Z0-9]+)*$/,
  numeric: /^\d+$/,
};

export const DATE_FORMS: typeof SPELLINGS = {
  'utc-seconds': /T\d\d:\d\d:\d\dZ$/,
  'utc-millis': /T\d\d:\d\d:\d\d\.\d{3}Z$/,
  '+02:00': /T\d\d:\d\d:\d\d\+02:00$/,
};

/** The form that a text has, or the text itself. */
export function classify(text: string, forms: typeof SPELLINGS): string {
  return Object.keys(forms).find((name) => forms[name]?.test(text)) ?? text;
}

/** Undefined for one word in small letters, which is spelled alike in two ways. */
export function spelling(code: unknown): string | undefined {
  return typeof code !== 'string' || /^[a-z]+$/.test(code) ? undefined : classify(code, SPELLINGS);
}

export function uniqueness(ids: readonly bigint[]): string {
  return new Set(ids).size === ids.length ? 'each once' : 'one twice';
}

export function describeNext(query: string): string {
  return /[?&]cursor=/.test(query) ? 'cursor' : query.replaceAll(/=[^&]*/g, '');
}

/** How optional fields without a value are written, if there are any. */
export function valueless(records: readonly ReplyRecord[], { members }: ObjectShape) {
  const names = Object.keys(members).filter((name) => members[name]?.required === false);
  const forms = new Set(
    records.flatMap((record) =>
      names.map((name) => record[name]).flatMap((value) => (value == null ? String(value) : [])),
    ),
  );
  const written = forms.size > 1 ? 'both' : forms.has('null') ? 'null' : 'left out';
  return forms.size === 0 ? {} : { 'absent fields': written };
}

export function compareFields(
  found: ReplyRecord,
  known: ReplyRecord,
  names: readonly string[],
): string {
  const other = names.find(
    (name) => known[name] != null && String(known[name]) !== String(found[name]),
  );
  return other === undefined ? 'as known' : `${other} ${String(found[other])}`;
}

function isAscending(values: readonly (bigint | string)[]): boolean {
  return values.every((value, at) => at === 0 || value > (values[at - 1] ?? value));
}

/** By id, or another order that stays; undefined for few animals. */
export function describeOrder(
  records: readonly ReplyRecord[],
  ids: readonly bigint[],
  before: readonly bigint[],
): string | undefined {
  if (ids.length < MIN_ORDERED) return undefined;
  if (isAscending(ids)) return 'id';
  if (isAscending(ids.toReversed())) return 'newest';
  const [now, then] = [new Set(ids), new Set(before)];
  const common = ids.filter((id) => then.has(id));
  if (String(common) !== String(before.filter((id) => now.has(id)))) return 'another at each call';
  const ascents = ids.filter((id, at) => id > (ids[at - 1] ?? id)).length / (ids.length - 1);
  if (Math.abs(ascents - 0.5) > MAX_SORTED_SHARE - 0.5) return 'nearly by id';
  const own = records.map(({ name }) => String(name).startsWith(CHECK_NAME));
  const [first, last] = [own.indexOf(true), own.lastIndexOf(true)];
  const count = own.filter(Boolean).length;
  const isTogether = count > 2 && last - first + 1 === count;
  if (isTogether && (first === 0 || last === own.length - 1)) return 'by creation';
  const names = records.map(({ name }) => String(name));
  const isSorted = (list: readonly string[]) =>
    list.every((name, at) => name.localeCompare(list[at - 1] ?? '') >= 0);
  const isByName = isSorted(names) || isSorted(names.toReversed());
  // Few names are in order by chance.
  return isByName && new Set(names).size >= MIN_ORDERED ? 'by name' : 'shuffled';
}
