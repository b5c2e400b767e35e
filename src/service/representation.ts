import type { Choices } from '../contract/assumption-table.ts';
import {
  type Animal,
  type Fields,
  type InventoryEntry,
  type Order,
  RECORDS,
  STORED_RECORDS,
} from '../contract/records.ts';

/** Writes records of the store as JSON for clients. */
export interface Representation {
  /** Unique, and below `REPRESENTATIONS`. */
  readonly number: number;
  readonly animal: (animal: Animal) => string;
  /** The same without caching the text: most created animals are never read. */
  readonly newAnimal: (animal: Animal) => string;
  readonly inventoryEntry: (entry: InventoryEntry) => string;
  readonly order: (order: Order) => string;
}

type WireChoice = 'absent-optionals' | 'date-format' | 'order-status-field';

/** Greater than the number of combinations of `WireChoice` options. */
export const REPRESENTATIONS = 16;

/** Shared by all worlds with the same `WireChoice` options. */
const representations = new Map<string, Representation>();

/** The representation for some options. */
export function representationFor(choices: Pick<Choices, WireChoice>): Representation {
  const key = `${choices['absent-optionals']} ${choices['date-format']} ${choices['order-status-field']}`;
  let representation = representations.get(key);
  if (representation === undefined) {
    const newAnimal = writer(RECORDS.Animal, choices);
    representation = {
      number: representations.size,
      animal: keeping(newAnimal),
      newAnimal,
      inventoryEntry: writer(RECORDS.InventoryEntry, choices),
      order: writer(
        choices['order-status-field'] === 'shown' ? STORED_RECORDS.orders : RECORDS.Order,
        choices,
      ),
    };
    representations.set(key, representation);
  }
  return representation;
}

/** The offset that `date-format: offset` writes, in minutes east of UTC. */
const WRITTEN_OFFSET_MINUTES = 120;

type AnyRecord = Readonly<Record<string, unknown>>;

function writer(fields: Fields, choices: Pick<Choices, WireChoice>): (record: AnyRecord) => string {
  const nullForAbsent = choices['absent-optionals'] === 'null';
  // The first field is the id, which every record has.
  const plan = Object.entries(fields).map(([name, { type }], index) => ({
    name,
    type,
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
  }));

  return (record) => {
    let json = '';
    for (const { name, prefix, type } of plan) {
      const value = record[name];
      if (value === undefined) {
        if (nullForAbsent) json += `${prefix}null`;
      } else if (typeof value !== 'string') json += prefix + String(value);
      else json += prefix + quoted(type === 'dateTime' ? formatDate(value, choices) : value);
    }
    return `${json}}`;
  };
}

/** `JSON.stringify` of a text, whose call costs more than a look at the characters of a short one. */
function quoted(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Animals with a cached text, one for each value of the last bits of an id. A power of 2. */
const KEPT_TEXTS = 1024;

/**
 * Caches the text of animals, which never change. A WeakMap would make the text of an animal that is
 * drawn anew for each request cost three times as much.
 */
function keeping(write: (animal: Animal) => string): (animal: Animal) => string {
  const kept = new Array<{ animal: Animal; text: string } | undefined>(KEPT_TEXTS).fill(undefined);
  return (animal) => {
    const slot = Number(animal.id) & (KEPT_TEXTS - 1);
    const known = kept[slot];
    if (known?.animal === animal) return known.text;
    const text = write(animal);
    if (text.length <= LONGEST_KEPT) kept[slot] = { animal, text };
    return text;
  };
}

/** The most characters of a cached text: an animal's name can have any length. */
const LONGEST_KEPT = 4096;

/** Converts an ISO 8601 date-time to the chosen format. */
function formatDate(instant: string, choices: Pick<Choices, 'date-format'>): string {
  const milliseconds = Date.parse(instant);
  const utc = new Date(milliseconds).toISOString();
  switch (choices['date-format']) {
    case 'utc-seconds':
      return utc.replace(/\.\d{3}Z$/, 'Z');
    case 'utc-millis':
      return utc;
    case 'offset': {
      const local = new Date(milliseconds + WRITTEN_OFFSET_MINUTES * 60_000).toISOString();
      return local.replace(/\.\d{3}Z$/, '+02:00');
    }
  }
}
