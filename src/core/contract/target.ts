import { DEFAULT_SANDBOX } from '../limits.ts';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  type OperationShape,
  operationShape,
} from './operations.ts';

export const CONTROL_PATH = '/__mock';

interface ServiceRoute {
  readonly operations: ReadonlyMap<string, OperationId>;
  /** The value of `Allow` (RFC 9110, section 10.2.1). */
  readonly allow: string;
}

/** A parsed request target (RFC 9112, section 3.2), spelled as the client sent it. */
export interface Target {
  readonly url: string;
  readonly path: string;
  /** `/~NAME` if the path begins with it, even if NAME is invalid; otherwise empty. */
  readonly mount: string;
  /** The NAME in `/~NAME`; undefined for the default sandbox. */
  readonly sandbox: string | undefined;
  readonly below: string;
  /** The query with its question mark. */
  readonly search: string;
  /** Undefined if the service has no such path. */
  readonly route: ServiceRoute | undefined;
  /** The percent-decoded id in the path. */
  readonly pathId: string | undefined;
}

/** Routes by path. A path with a parameter is listed by what precedes that, with the slash. */
const routes = new Map<string, ServiceRoute>();

for (const id of OPERATION_IDS) {
  const { method, path }: OperationShape = operationShape(id);
  const key = BASE_PATH + path.replace(/\{.*/, '');
  const operations = new Map(routes.get(key)?.operations).set(method, id);
  const methods = [...operations.keys()].flatMap((name) =>
    name === 'GET' ? ['GET', 'HEAD'] : [name],
  );
  routes.set(key, { operations, allow: [...methods, 'OPTIONS'].join(', ') });
}

const AUTHORITY = /^https?:\/\/[^/?#]*/i;

/** Splits a request target, in origin or absolute form. */
export function parseTarget(url: string): Target {
  const target = url.startsWith('/') ? url : url.replace(AUTHORITY, '') || '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const search = mark < 0 ? '' : target.slice(mark);
  const slash = path.startsWith('/~') ? path.indexOf('/', 1) : -1;
  const mount = slash < 0 ? '' : path.slice(0, slash);
  const below = slash < 0 ? path : path.slice(slash);
  const { route, pathId } = findServiceRoute(below);
  const sandbox = slash < 0 ? undefined : mount.slice('/~'.length);
  return { url, path, mount, sandbox, below, search, route, pathId };
}

function findServiceRoute(path: string): Pick<Target, 'route' | 'pathId'> {
  const slash = path.lastIndexOf('/') + 1;
  const last = path.slice(slash);
  if (last === '') return { route: undefined, pathId: undefined };
  const route = routes.get(path);
  if (route !== undefined) return { route, pathId: undefined };
  return { route: routes.get(path.slice(0, slash)), pathId: decodeSegment(last) };
}

function decodeSegment(segment: string): string {
  try {
    return segment.includes('%') ? decodeURIComponent(segment) : segment;
  } catch {
    return segment;
  }
}

const NO_QUERY: readonly (readonly [string, string])[] = [];

/** A single `name=value` without escapes, which can be read without a decoder. */
const PLAIN_PAIR = /^\?([\w.~-]+)=([\w.~-]*)$/;

export function parseQuery({ search }: Target): typeof NO_QUERY {
  if (search === '') return NO_QUERY;
  const [, name, value] = PLAIN_PAIR.exec(search) ?? [];
  if (name === undefined || value === undefined) return [...new URLSearchParams(search)];
  return [[name, value]];
}

/** A target that belongs to the mock itself: its control API, its pages, or a root such as `/`. */
export interface ControlTarget {
  /** The base path of the sandbox's control API, such as `/~NAME/__mock`. */
  readonly mount: string;
  /** The sandbox that the path names. The name may be invalid. */
  readonly sandboxName: string;
  /** The path below the mount, as the client sent it. */
  readonly path: string;
  readonly search: string;
  /** Whether the target is `/` or `/~NAME`, with or without a slash at its end. */
  readonly isRoot: boolean;
}

const ROOT = /^(\/~([\w.-]{1,64}))?\/?$/;

/** Finds the control API that a target is for. Undefined for a path of the service. */
export function findControlTarget(target: Target): ControlTarget | undefined {
  const { mount, sandbox = DEFAULT_SANDBOX, below, search } = target;
  const [root, named = '', name = DEFAULT_SANDBOX] = ROOT.exec(target.path) ?? [];
  if (root !== undefined) {
    return { mount: named + CONTROL_PATH, sandboxName: name, path: '', search, isRoot: true };
  }
  const path = pathBelow(CONTROL_PATH, below);
  if (path === undefined) return undefined;
  return { mount: mount + CONTROL_PATH, sandboxName: sandbox, path, search, isRoot: false };
}

/** The path below `/v1` with its query; undefined for a path outside of `/v1`. */
export function belowBase({ below, search }: Target): string | undefined {
  const path = pathBelow(BASE_PATH, below);
  return path === undefined ? undefined : path + search;
}

function pathBelow(base: string, path: string): string | undefined {
  const rest = path.slice(base.length);
  return path.startsWith(base) && (rest === '' || rest.startsWith('/')) ? rest : undefined;
}

export interface Address {
  /** The base URL of the server, or the path where an app mounts the mock. */
  readonly root: string;
  readonly sandbox: string;
}

const RESOURCES = [...new Set(OPERATION_IDS.map((id) => operationShape(id).path.split('/')[1]))];

/** `/v1` belongs to the mount if what follows is not a path of the service, as in `/v1/mock`. */
const ADDRESS = new RegExp(
  `^(.*?)(?:/~([^/]*))?(?:${CONTROL_PATH}(?:/.*)?|${BASE_PATH}(?:/(?:${RESOURCES.join('|')})(?:/.*)?)?)?/*$`,
);

/** Splits the URL of a mock into server and sandbox. It may end in `/~NAME`, `/v1` or `/__mock`. */
export function parseAddress(address: string): Address {
  const [, root = address, sandbox = DEFAULT_SANDBOX] = ADDRESS.exec(address) ?? [];
  return { root, sandbox };
}

/** The URL of a sandbox, to which `/v1` or `/__mock` can be appended. */
export function formatAddress({ root, sandbox }: Address): string {
  return sandbox === DEFAULT_SANDBOX ? root : `${root}/~${sandbox}`;
}

export function formatControlUrl(address: Address): string {
  return formatAddress(address) + CONTROL_PATH;
}

export function formatServiceUrl(address: Address): string {
  return formatAddress(address) + BASE_PATH;
}
