import { type KeyLists, keyring } from '../service/keyring.ts';
import { bold, type Style } from './terminal.ts';

/** What a person who has just started a server wants to do next. */
export function renderBanner(url: string, keys: KeyLists, style: Style): string {
  const key = workingKey(keys);
  const lines: [string, string][] = [
    ['See what else it can answer', 'petstore-mock assumptions'],
    ['Stop it', 'Ctrl-C'],
  ];
  if (key !== undefined) {
    const header = shellQuoted(`Authorization: Bearer ${key}`);
    lines.unshift(['Try it', `curl -H ${header} '${url}/pets?limit=3'`]);
  }
  return `\n${lines.map(([what, how]) => `  ${bold(what, style)}: ${how}\n`).join('')}`;
}

/** A key that the server takes; undefined where there is none. */
function workingKey(lists: KeyLists): string | undefined {
  const { valid, readOnly, invalid, any } = keyring(lists);
  const candidates = [...valid, ...readOnly, ...(any ? ['any-key'] : [])];
  return candidates.find((key) => !invalid.has(key));
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
