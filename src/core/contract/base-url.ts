import { DEFAULTS } from '../limits.ts';
import { BASE_PATH } from './operations.ts';

export const DEFAULT_URL = `http://${DEFAULTS.host}:${DEFAULTS.port}${BASE_PATH}`;

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
    return text; // A percent sign that is no escape stays as it is.
  }
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostName({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK_IPV4 = new RegExp(`^127(?:\\.${OCTET}){3}$`);
/** The spellings of a loopback address in a URL: `::1`, or 127.0.0.0/8 mapped to IPv6. */
const LOOPBACK_IPV6 = /^\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]{1,4})\]$/;

/** `localhost` and its subdomains are never looked up in the DNS (RFC 6761). */
export function isLoopbackName(name: string): boolean {
  if (name.includes(':')) {
    const url = `http://[${name}]`;
    return URL.canParse(url) && LOOPBACK_IPV6.test(new URL(url).hostname);
  }
  return LOOPBACK_IPV4.test(name) || /^(?:.+\.)?localhost\.?$/i.test(name);
}
