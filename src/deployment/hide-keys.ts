/** Fewer characters of a cut key tell nothing. */
const FEWEST_TOLD = 4;

/** Masks keys in a text: a deployment can repeat them, and a message can quote or cut what it repeats. */
export function hideKeys(text: string, keys: readonly string[]): string {
  return keys
    .flatMap((key) => [key, JSON.stringify(key).slice(1, -1)])
    .reduce((hidden, key) => withoutCut(hidden.replaceAll(key, 'KEY'), key), text);
}

/** Masks the beginning of a key where a text was cut. */
function withoutCut(text: string, key: string): string {
  if (!text.includes('…') || !text.includes(key.slice(0, FEWEST_TOLD))) return text;
  let hidden = text;
  for (let length = key.length - 1; length >= FEWEST_TOLD; length -= 1) {
    hidden = hidden.replaceAll(`${key.slice(0, length)}…`, 'KEY…');
  }
  return hidden;
}
