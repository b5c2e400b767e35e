/** Writes a record, whose members are all scalars, as JSON; a bigint as its digits. */
export function recordText(record: object): string {
  const members = Object.entries(record).map(([name, value]: [string, unknown]) => {
    const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

/** The pieces of a JSON array of records. */
export function* arrayText(records: Iterable<object>): Generator<string> {
  let open = '[';
  for (const record of records) {
    yield open + recordText(record);
    open = ',';
  }
  yield open === '[' ? '[]' : ']';
}
