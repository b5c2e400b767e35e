import { isObject, type Problem, type Reading } from '../contract/records.ts';
import { describe, listed, suggest } from '../words.ts';

/** The members of an object that it should not have, each with the nearest one that it can have. */
export function unknownProblems(
  value: unknown,
  names: readonly string[],
  path = '$',
): readonly Problem[] {
  if (!isObject(value)) return [];
  return Object.keys(value)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      path: memberPath(path, name),
      expected: names.length === 0 ? 'no member' : listed(names, 'or'),
      found: `${describe(name)}${suggest(name, names)}`,
    }));
}

export function memberPath(path: string, name: string): string {
  return `${path}${/^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`;
}

/** How one member of a body, or one parameter, is read. */
export interface MemberReader<T> {
  readonly expected: string;
  /** Undefined where the value is none of these. */
  readonly read: (value: unknown) => T | undefined;
  /** Words that a misspelt one may have been meant for. */
  readonly words?: readonly string[];
}

type Members<R> = {
  readonly [Name in keyof R]?: R[Name] extends MemberReader<infer T> ? T : never;
};

/** Reads an object whose members are all optional; others are refused. */
export function readMembers<const R extends Readonly<Record<string, MemberReader<unknown>>>>(
  readers: R,
  value: unknown,
  path = '$',
): Reading<Members<R>> {
  if (!isObject(value)) {
    return { ok: false, problems: [{ path, expected: 'an object', found: describe(value) }] };
  }
  const problems = [...unknownProblems(value, Object.keys(readers), path)];
  const members: Record<string, unknown> = {};
  for (const [name, { expected, read, words = [] }] of Object.entries(readers)) {
    if (!Object.hasOwn(value, name)) continue;
    const given = value[name];
    members[name] = read(given);
    if (members[name] !== undefined) continue;
    const hint = typeof given === 'string' ? suggest(given, words) : '';
    problems.push({ path: memberPath(path, name), expected, found: describe(given) + hint });
  }
  if (problems.length > 0) return { ok: false, problems };
  return isRead(readers, members)
    ? { ok: true, value: members }
    : { ok: false, problems: [{ path, expected: 'an object', found: describe(value) }] };
}

function isRead<R extends Readonly<Record<string, MemberReader<unknown>>>>(
  readers: R,
  members: Readonly<Record<string, unknown>>,
): members is Readonly<Record<string, unknown>> & Members<R> {
  return Object.keys(members).every((name) => name in readers && members[name] !== undefined);
}
