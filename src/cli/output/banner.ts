import { curlCommand, shellWord } from '../../curl.ts';
import { workingKey } from '../../library/mock-variables.ts';
import type { KeyLists } from '../../service/keyring.ts';
import { escaped } from './escaped.ts';
import { bold, type Style } from './terminal.ts';

/** What the banner shows of a server. */
export interface Started {
  /** The service's base URL. */
  readonly url: string;
  readonly keys: KeyLists;
  /** Names or paths. */
  readonly scenarios: readonly string[];
  /** Defined under HTTPS, with the file that has the certificate if one was written. */
  readonly trust: { readonly file: string | undefined } | undefined;
  /** Undefined if it is off. The token is defined only if it was generated. */
  readonly control: { readonly token: string | undefined } | undefined;
}

/** Next steps for a person who has just started a server. */
export function renderBanner(started: Started, style: Style): string {
  const { url, keys, scenarios, control, trust } = started;
  const key = workingKey(keys);
  const lines: [string, string][] = [];
  if (key !== undefined) {
    const headers = [['Authorization', `Bearer ${key}`]] as const;
    const request = { method: 'GET', url: `${url}/pets?limit=3`, headers };
    lines.push(['Try it', curlCommand(request, trustFlags(trust))]);
  }
  if (trust !== undefined) {
    lines.push(['Trust it', trust.file ?? new URL('/__mock/certificate.pem', url).href]);
  }
  if (scenarios.length > 0) lines.push(['Scenarios', scenarios.join(', ')]);
  if (control !== undefined) {
    lines.push(['Dashboard', new URL('/__mock/', url).href]);
    if (control.token !== undefined) lines.push(['Control token', control.token]);
  }
  lines.push(
    ['List its assumptions', 'petstore-mock assumptions'],
    ['List the scenarios', 'petstore-mock scenarios'],
    ['Stop it', 'Ctrl-C'],
  );
  return `\n${lines.map(([what, how]) => `  ${bold(what, style)}: ${escaped(how)}\n`).join('')}\n`;
}

/** The flags that make curl accept the certificate. */
function trustFlags(trust: Started['trust']): string[] {
  if (trust === undefined) return [];
  return trust.file === undefined ? ['--insecure'] : ['--cacert', shellWord(trust.file)];
}
