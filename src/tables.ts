/** The names of a table's rows, in order. */
export function rowNames<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(table).filter((name) => isRowName(table, name));
}

/** Whether a table has a row of this name. */
export function isRowName<Name extends string>(
  table: Readonly<Record<Name, unknown>>,
  name: string,
): name is Name {
  return Object.hasOwn(table, name);
}
