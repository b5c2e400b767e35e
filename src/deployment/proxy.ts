import { credentialsOf, hostOf } from '../contract/base-url.ts';
import { isLoopbackName } from '../control/loopback.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL, by `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` in either case; undefined to
 * connect directly, as always to this machine.
 */
export function proxyFor(url: URL, variables: Variables): URL | undefined {
  const host = hostOf(url);
  if (isLoopbackName(host) || isExcepted(url, read(variables, 'no_proxy'))) return undefined;
  const proxy = read(variables, url.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  if (proxy === '') return undefined;
  const full = proxy.includes('://') ? proxy : `http://${proxy}`;
  return URL.canParse(full) ? new URL(full) : undefined;
}

/** The lower-case variable wins, as in curl. */
function read(variables: Variables, name: string): string {
  return variables[name] || variables[name.toUpperCase()] || '';
}

/** Whether `NO_PROXY` names the host, a domain that it is in, or all hosts. */
function isExcepted(url: URL, list: string): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const host = hostOf(url).toLowerCase();
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (name === '' || (only !== undefined && only !== port)) return false;
    const domain = name.replace(/^\*?\./, '');
    return host === domain || host.endsWith(`.${domain}`);
  });
}

/** The value of `Proxy-Authorization` for the user in a proxy's URL. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  const { username, password } = credentialsOf(proxy);
  if (username === '') return {};
  const user = Buffer.from(`${username}:${password}`);
  return { 'Proxy-Authorization': `Basic ${user.toString('base64')}` };
}
