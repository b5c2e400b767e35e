import { BlockList, isIP } from 'node:net';
import { DEFAULTS } from '../limits.ts';
import { BASE_PATH } from './operations.ts';

export const DEFAULT_URL = `http://${DEFAULTS.host}:${DEFAULTS.port}${BASE_PATH}`;

export const BASE_URL_FORM =
  'a base URL such as https://staging.example.com/v1, without a user, a query or a fragment';

export function parseBaseUrl(text: string): URL | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.search !== '' || url.hash !== '') return undefined;
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

export function readCredentials({ username, password }: URL) {
  return { username: decode(username), password: decode(password) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A percent sign that encodes nothing stands for itself.
  }
}

/** An IPv6 address without brackets. */
export function hostName({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** `localhost` and its subdomains are never looked up in the DNS (RFC 6761). */
export function isLoopbackName(name: string): boolean {
  const family = isIP(name);
  if (family !== 0) return LOOPBACK.check(name, family === 6 ? 'ipv6' : 'ipv4');
  return /^(?:.+\.)?localhost\.?$/i.test(name);
}
