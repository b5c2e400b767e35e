export type ComparedLine = readonly [sign: ' ' | '−' | '+', text: string];

/** The most pairs of lines to compare, which take 8 MB for a moment. */
const MAX_PAIRS = 1_000_000;

/** Merges the lines of two texts. Their longest common subsequence stays, unless they are too long. */
export function compareLines(before: string, after: string): readonly ComparedLine[] {
  const [old, next] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(old.length, next.length);
  let [start, end] = [0, 0];
  while (start < shorter && old[start] === next[start]) start += 1;
  while (end < shorter - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  return [
    ...mark(' ', old.slice(0, start)),
    ...compareMiddle(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...mark(' ', old.slice(old.length - end)),
  ];
}

function mark(sign: ComparedLine[0], lines: readonly string[]): ComparedLine[] {
  return lines.map((text) => [sign, text]);
}

function compareMiddle(old: readonly string[], next: readonly string[]): readonly ComparedLine[] {
  if (old.length * next.length > MAX_PAIRS) return [...mark('−', old), ...mark('+', next)];
  const common = old.map(() => next.map(() => 0));
  const at = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = next.length - 1; column >= 0; column -= 1) {
      const longest = Math.max(at(row + 1, column), at(row, column + 1));
      const isSame = old[row] === next[column];
      (common[row] ?? [])[column] = isSame ? at(row + 1, column + 1) + 1 : longest;
    }
  }
  const lines: ComparedLine[] = [];
  for (let row = 0, column = 0; row < old.length || column < next.length; ) {
    const [mine, other] = [old[row], next[column]];
    const isLess = other === undefined || at(row + 1, column) >= at(row, column + 1);
    if (mine !== undefined && mine === other) {
      lines.push([' ', mine]);
      row += 1;
      column += 1;
    } else if (mine !== undefined && isLess) {
      lines.push(['−', mine]);
      row += 1;
    } else {
      lines.push(['+', other ?? '']);
      column += 1;
    }
  }
  return lines;
}
