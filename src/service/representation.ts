import type { Choices } from '../contract/assumption-table.ts';
import {
  type Animal,
  type AnyRecord,
  type Fields,
  type InventoryEntry,
  type Order,
  RECORDS,
  STORED_RECORDS,
} from '../contract/records.ts';

/** Writes records as JSON for clients. There is one for each combination of options. */
export interface Representation {
  readonly animal: (animal: Animal) => string;
  readonly inventoryEntry: (entry: InventoryEntry) => string;
  readonly order: (order: Order) => string;
}

type FormChoice = 'absent-optionals' | 'date-format' | 'order-status-field';

const representations = new Map<string, Representation>();

export function representationFor(choices: Pick<Choices, FormChoice>): Representation {
  const form = `${choices['absent-optionals']} ${choices['date-format']} ${choices['order-status-field']}`;
  let representation = representations.get(form);
  if (representation === undefined) {
    const isStatusShown = choices['order-status-field'] === 'shown';
    const write = writer(isStatusShown ? STORED_RECORDS.orders : RECORDS.Order, choices);
    const order = isStatusShown ? (it: Order) => write({ status: 'pending', ...it }) : write;
    representation = {
      animal: writer(RECORDS.Animal, choices),
      inventoryEntry: writer(RECORDS.InventoryEntry, choices),
      order,
    };
    representations.set(form, representation);
  }
  return representation;
}

function writer(fields: Fields, choices: Pick<Choices, FormChoice>): (record: AnyRecord) => string {
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
      else json += prefix + quote(type === 'dateTime' ? formatDate(value, choices) : value);
    }
    return `${json}}`;
  };
}

/** Like `JSON.stringify`, but faster for short texts that need no escapes. */
function quote(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A date as `utc-seconds` writes it, and as fixtures and generated stores have it. */
const UTC_SECONDS = /^(\d{4}-\d\d-\d\dT)(\d\d)(:\d\d:\d\d)Z$/;

const WRITTEN_OFFSET = '+02:00';
const WRITTEN_OFFSET_HOURS = 2;

function formatDate(instant: string, choices: Pick<Choices, 'date-format'>): string {
  const format = choices['date-format'];
  const [, day, hour = '', rest] = UTC_SECONDS.exec(instant) ?? [];
  const localHour = Number(hour) + WRITTEN_OFFSET_HOURS;
  // Formatting a Date takes 3 µs, and 300 ms for 100,000 orders.
  if (day !== undefined && format === 'utc-seconds') return instant;
  if (day !== undefined && format === 'utc-millis') return `${day}${hour}${rest}.000Z`;
  if (day !== undefined && localHour < 24) {
    return `${day}${String(localHour).padStart(2, '0')}${rest}${WRITTEN_OFFSET}`;
  }
  const milliseconds = Date.parse(instant);
  const utc = new Date(milliseconds).toISOString();
  if (format === 'utc-millis') return utc;
  if (format === 'utc-seconds') return utc.replace(/\.\d{3}Z$/, 'Z');
  const local = new Date(milliseconds + WRITTEN_OFFSET_HOURS * 3_600_000).toISOString();
  return local.replace(/\.\d{3}Z$/, WRITTEN_OFFSET);
}
