/**
 * The codes an Error can carry: the statuses each comes with, and the number that spells it where
 * `error-codes` is numeric (the status, then these two digits).
 *
 * The document leaves the set of codes open; these are the mock's.
 */
export const ERROR_CODES = {
  unauthorized: { statuses: [401], serial: '01' },
  forbidden: { statuses: [403], serial: '01' },
  invalid_input: { statuses: [400, 422], serial: '01' },
  pet_not_found: { statuses: [404, 400], serial: '02' },
  inventory_entry_not_found: { statuses: [404], serial: '03' },
  order_not_found: { statuses: [404], serial: '01' },
  route_not_found: { statuses: [404], serial: '04' },
  order_already_shipped: { statuses: [409], serial: '01' },
  order_already_cancelled: { statuses: [409, 404], serial: '05' },
  gone: { statuses: [410, 404], serial: '06' },
  method_not_allowed: { statuses: [405], serial: '01' },
  request_timeout: { statuses: [408], serial: '01' },
  body_too_large: { statuses: [413], serial: '01' },
  unsupported_media_type: { statuses: [415], serial: '01' },
  too_many_requests: { statuses: [429], serial: '01' },
  request_header_fields_too_large: { statuses: [431], serial: '01' },
  internal_error: { statuses: [500], serial: '01' },
  ids_exhausted: { statuses: [507], serial: '01' },
} as const satisfies Record<string, { statuses: readonly number[]; serial: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A status that an Error with this code can have. */
export type StatusOf<C extends ErrorCode> = (typeof ERROR_CODES)[C]['statuses'][number];

export type CodeSpelling = 'snake_case' | 'UPPER_CASE' | 'kebab-case' | 'numeric';

/**
 * Spells a code.
 *
 * @example spellCode('order_not_found', 404, 'numeric') // '40401'
 */
export function spellCode(code: ErrorCode, status: number, spelling: CodeSpelling): string {
  switch (spelling) {
    case 'snake_case':
      return code;
    case 'UPPER_CASE':
      return code.toUpperCase();
    case 'kebab-case':
      return code.replaceAll('_', '-');
    case 'numeric':
      return `${status}${ERROR_CODES[code].serial}`;
  }
}
