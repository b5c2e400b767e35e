import { computed, signal } from '@preact/signals';
import { ControlClient, type ReplyOf } from '../../../client/control-client.ts';
import { formatControlUrl, formatServiceUrl, parseAddress } from '../../../core/contract/target.ts';
import { host } from './host.ts';

export type ListedExchange = ReplyOf<'GET /requests/{number}'>;
export type ExchangePage = ReplyOf<'GET /requests'>;
export type ListedEdit = NonNullable<ExchangePage['edits']>[number];
export type ScenarioSummary = ReplyOf<'GET /scenarios'>[number];
export type ListedFinding = ReplyOf<'GET /findings'>['findings'][number];

const { root, sandbox: named } = parseAddress(host.path);

export const sandbox = named;

/** Stands for no sandbox in particular: what the pages of all of them share is kept under it. */
export const EVERY_SANDBOX = '';

function keptAs(name: string, of: string): string {
  return `petstore-mock ${of} ${name}`;
}

/** What this tab keeps through a reload. */
export function readKept<T>(name: string, of = sandbox): T | undefined {
  const text = sessionStorage.getItem(keptAs(name, of));
  return text === null ? undefined : JSON.parse(text);
}

/** @param value undefined to drop it */
export function keep(name: string, value: unknown, of = sandbox): void {
  try {
    if (value === undefined) sessionStorage.removeItem(keptAs(name, of));
    else sessionStorage.setItem(keptAs(name, of), JSON.stringify(value));
  } catch {
    // The storage is full: the page goes on without.
  }
}

/** How the names go on that begin so, among those of what is kept of the sandbox. */
export function listKept(start: string): readonly string[] {
  const prefix = keptAs(start, sandbox);
  const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
  return keys.map((key) => key.slice(prefix.length));
}

export function controlPath(name: string): string {
  return formatControlUrl({ root, sandbox: name });
}

export const servicePath = formatServiceUrl({ root, sandbox });

export const serviceUrl = host.origin + servicePath;

export const connection = signal<'ok' | 'lost' | 'no-token' | 'wrong-token'>('ok');

export const needsToken = computed(() => connection.value.endsWith('token'));

/** Counts the times that every view has to reload: the server is back, or forgot everything. */
export const epoch = signal(0);

/** Counts changes of the sandbox, by this page or others: every resource reloads. */
export const changes = signal(0);

/** The latest exchange that the list has taken into account; undefined until it has read. */
export const seenExchange = signal<number | undefined>(undefined);

/** Counts new exchanges: the journal reloads. */
export const arrivals = signal(0);

function controlToken(): string | undefined {
  return readKept('token', EVERY_SANDBOX);
}

export function enterToken(token: string): void {
  keep('token', token, EVERY_SANDBOX);
  reloadAll();
}

export function reloadAll(): void {
  connection.value = 'ok';
  epoch.value += 1;
}

export interface Notice {
  readonly kind: 'done' | 'failed';
  readonly text: string;
  /** The control that it speaks of. */
  readonly at?: string;
  readonly undo?: () => Promise<void>;
  readonly link?: readonly [label: string, href: string];
}

export const notice = signal<Notice | undefined>(undefined);

/** The latest change by this page: nothing but the next one, or the user, takes its Undo away. */
export const lastChange = signal<Notice | undefined>(undefined);

interface Question extends Readonly<Record<'name' | 'label' | 'text', string>> {
  readonly answer: (isYes: boolean) => void;
}

export const question = signal<Question | undefined>(undefined);

export function ask(name: string, label: string, text: string): Promise<boolean> {
  return new Promise((answer) => {
    question.value = { name, label, text, answer };
  });
}

/**
 * What this page calls itself in `Mock-Client`: its calls of the service are not the client's. It has a
 * word of its own, so that Undo takes back nothing that the page of somebody else has done.
 * It stays the same through a reload.
 */
export const PAGE_CLIENT =
  readKept<string>('client', EVERY_SANDBOX) ??
  `the page ${crypto.getRandomValues(new Uint32Array(1)).join('').slice(-4)}`;
keep('client', PAGE_CLIENT, EVERY_SANDBOX);

export const client = new ControlClient({
  url: host.origin + controlPath(sandbox),
  name: PAGE_CLIENT,
  fetch: send,
});

async function send(url: string, init: RequestInit): Promise<Response> {
  const token = controlToken();
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('mock-control-token', token);
  try {
    const response = await host.fetch(url, { ...init, headers });
    if (connection.value === 'lost') reloadAll();
    // A late reply to a call with the previous token says nothing about this one.
    if (response.status === 401 && token === controlToken()) {
      connection.value = token === undefined ? 'no-token' : 'wrong-token';
    }
    return response;
  } catch (error) {
    if (init.signal?.aborted !== true) connection.value = 'lost'; // the stream tries again
    throw error;
  }
}
