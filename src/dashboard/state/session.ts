import { computed, signal } from '@preact/signals';
import { BASE_PATH } from '../../contract/operations.ts';
import { addressOf, parseAddress } from '../../http/target.ts';

const { root, sandbox: named } = parseAddress(location.pathname);

/** The sandbox of this page's address. */
export const sandbox = named;

/** The path of the control API of a sandbox. */
export function controlPath(name: string): string {
  return `${addressOf({ root, sandbox: name })}/__mock`;
}

/** Where the service of this sandbox is on this server. */
export const servicePath = addressOf({ root, sandbox }) + BASE_PATH;

/** The base URL that clients of this sandbox use. */
export const serviceUrl = location.origin + servicePath;

/** Whether the control API answers this page. */
export const connection = signal<'ok' | 'lost' | 'no-token' | 'wrong-token'>('ok');

/** Whether the page needs a token, or another one, before it can show anything. */
export const needsToken = computed(
  () => connection.value === 'no-token' || connection.value === 'wrong-token',
);

/** Incremented when the server is back, so that every view reloads. */
export const epoch = signal(0);

/** Incremented after each action, which may have changed what any view shows. */
export const changes = signal(0);

const TOKEN = 'petstore-mock control token';

/** The control token, which lives as long as the tab. */
export function controlToken(): string | undefined {
  return sessionStorage.getItem(TOKEN) ?? undefined;
}

export function enterToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
  reconnected();
}

/** Reloads everything. */
export function reconnected(): void {
  connection.value = 'ok';
  epoch.value += 1;
}

/** The result of the last action. */
export const notice = signal<{ kind: 'done' | 'failed'; text: string } | undefined>(undefined);
