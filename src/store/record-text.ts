/** Writes a record as JSON, bigints as digits. Its members must be scalars with plain names. */
export function recordText(record: object): string {
  const members: Readonly<Record<string, unknown>> = { ...record };
  let text = '';
  for (const name of Object.keys(members)) {
    const value = members[name];
    const written = typeof value === 'string' ? JSON.stringify(value) : String(value);
    text += `${text === '' ? '{' : ','}"${name}":${written}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Writes a JSON array of records in pieces. */
export function* arrayText(records: Iterable<object>): Generator<string> {
  let open = '[';
  for (const record of records) {
    yield open + recordText(record);
    open = ',';
  }
  yield open === '[' ? '[]' : ']';
}
