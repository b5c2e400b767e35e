import { rowNames } from '../tables.ts';
import type { Choices } from './assumption-table.ts';
import { OPERATION_IDS, type OperationId } from './operations.ts';

interface ErrorShape {
  readonly statuses: readonly number[];
  /** The digits that follow the status in the code under `error-codes=numeric`. */
  readonly serial: string;
  /** The operations that can reply with this error; none if only the mock itself does. */
  readonly on: readonly OperationId[];
}

export const ERROR_CODES = {
  unauthorized: { statuses: [401], serial: '01', on: OPERATION_IDS },
  forbidden: { statuses: [403], serial: '01', on: OPERATION_IDS },
  invalid_input: { statuses: [400, 422], serial: '01', on: OPERATION_IDS },
  pet_not_found: { statuses: [404, 400], serial: '02', on: ['getPet', 'updateInventory'] },
  inventory_entry_not_found: { statuses: [404], serial: '03', on: ['updateInventory'] },
  order_not_found: { statuses: [404], serial: '01', on: ['cancelOrder'] },
  route_not_found: { statuses: [404], serial: '04', on: [] },
  order_already_shipped: { statuses: [409], serial: '01', on: ['cancelOrder'] },
  order_already_cancelled: { statuses: [409, 404], serial: '05', on: ['cancelOrder'] },
  gone: { statuses: [410, 404], serial: '06', on: ['getPet'] },
  method_not_allowed: { statuses: [405], serial: '01', on: OPERATION_IDS },
  request_timeout: { statuses: [408], serial: '01', on: OPERATION_IDS },
  body_too_large: { statuses: [413], serial: '01', on: OPERATION_IDS },
  unsupported_media_type: { statuses: [415], serial: '01', on: OPERATION_IDS },
  too_many_requests: { statuses: [429], serial: '01', on: OPERATION_IDS },
  request_header_fields_too_large: { statuses: [431], serial: '01', on: OPERATION_IDS },
  internal_error: { statuses: [500], serial: '01', on: OPERATION_IDS },
  bad_gateway: { statuses: [502], serial: '01', on: OPERATION_IDS },
  service_unavailable: { statuses: [503], serial: '01', on: OPERATION_IDS },
  gateway_timeout: { statuses: [504], serial: '01', on: OPERATION_IDS },
  sandbox_required: { statuses: [400], serial: '10', on: [] },
  sandbox_name_invalid: { statuses: [400], serial: '11', on: [] },
  too_many_sandboxes: { statuses: [503], serial: '10', on: [] },
  not_saved: { statuses: [503], serial: '11', on: [] },
  not_found: { statuses: [404], serial: '10', on: [] },
  already_exists: { statuses: [409], serial: '10', on: [] },
  changed_meanwhile: { statuses: [412], serial: '10', on: [] },
  too_many_snapshots: { statuses: [409], serial: '11', on: [] },
  cannot_be_deleted: { statuses: [409], serial: '12', on: [] },
  too_many_scenarios: { statuses: [409], serial: '13', on: [] },
  nothing_to_undo: { statuses: [409], serial: '15', on: [] },
  body_dropped: { statuses: [409], serial: '16', on: [] },
  not_replayable: { statuses: [409], serial: '17', on: [] },
  too_many_latches: { statuses: [409], serial: '14', on: [] },
  too_many_listeners: { statuses: [409], serial: '18', on: [] },
  // The code of statuses that only a scenario produces.
  other_error: { statuses: [] as readonly number[], serial: '99', on: [] },
  ids_exhausted: { statuses: [507], serial: '01', on: ['createPet'] },
} as const satisfies Record<string, ErrorShape>;

export type ErrorCode = keyof typeof ERROR_CODES;

const CODES = rowNames(ERROR_CODES);

export type StatusOf<C extends ErrorCode> = (typeof ERROR_CODES)[C]['statuses'][number];

export function spellCode(
  code: ErrorCode,
  status: number,
  spelling: Choices['error-codes'],
): string {
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

export function errorShape(code: ErrorCode): ErrorShape {
  return ERROR_CODES[code];
}

export function findErrorCodes(id: OperationId, status: number): ErrorCode[] {
  return CODES.filter((code) => {
    const { statuses, on } = errorShape(code);
    return statuses.includes(status) && on.includes(id);
  });
}
