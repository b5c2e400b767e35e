import { OPERATION_IDS } from '../../contract/operations.ts';
import { QueryChip, QueryChoice, QuerySearch } from '../parts/query-inputs.tsx';
import { place } from '../state/place.ts';

const FILTERS = [
  ...[
    'text',
    'statusClass',
    'basis',
    'findings',
    'unmatched',
    'held',
    'operation',
    'status',
    'key',
  ],
] as const;

/** The part of the page's address that filters exchanges, as a query of the control API. */
export function filterIn(query: URLSearchParams): string {
  const filter = new URLSearchParams();
  for (const name of FILTERS) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '' && (name !== 'status' || /^\d{3}$/.test(value))) filter.set(name, value);
  }
  return filter.toString();
}

/** The filters, kept in the page's address. */
export function ExchangeFilters() {
  const { query } = place.value;
  const isMore = ['operation', 'status', 'key'].some((name) => query.has(name));
  return (
    <search class="bar">
      <QuerySearch name="text" label="Search" placeholder="Search paths, reasons and bodies" />
      {['2xx', '4xx', '5xx'].map((value) => (
        <QueryChip key={value} name="statusClass" value={value} label={value} />
      ))}
      {['assumed', 'forced'].map((value) => (
        <QueryChip key={value} name="basis" value={value} label={value} />
      ))}
      <QueryChip name="findings" value="true" label="with findings" />
      <QueryChip name="unmatched" value="true" label="unmatched" />
      {query.has('held') && <QueryChip name="held" value="true" label="held" />}
      <details class="more" open={isMore}>
        <summary>More filters</summary>
        <div class="bar fields">
          <QueryChoice name="operation" label="Operation" options={OPERATION_IDS} />
          <QuerySearch name="status" label="Status" digits={3} />
          <QuerySearch name="key" label="API key" />
        </div>
      </details>
    </search>
  );
}
