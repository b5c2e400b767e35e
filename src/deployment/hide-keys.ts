/** Shorter keys are no secrets, but can be words of a message. */
const FEWEST_CHARACTERS = 8;

/** Fewer characters of a cut key tell nothing. */
const FEWEST_TOLD = 4;

/**
 * Masks keys in a text: a deployment can repeat them, and a message can quote or cut what it repeats.
 * Short keys are masked only as a whole word of what is quoted.
 */
export function hideKeys(text: string, keys: readonly string[]): string {
  return keys.reduce(
    (hidden, key) =>
      key.length < FEWEST_CHARACTERS ? withoutShort(hidden, key) : withoutLong(hidden, key),
    text,
  );
}

function withoutLong(text: string, key: string): string {
  return [key, quoted(key)].reduce(
    (hidden, it) => withoutCut(hidden.replaceAll(it, 'KEY'), it),
    text,
  );
}

function withoutShort(text: string, key: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"?/g, (value) =>
    value
      .split(/([\s"=:,;]+)/)
      .map((word) => (word === quoted(key) ? 'KEY' : word))
      .join(''),
  );
}

function quoted(key: string): string {
  return JSON.stringify(key).slice(1, -1);
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
