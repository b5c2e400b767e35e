import { QueryChoice, QuerySearch } from '../parts/query-inputs.tsx';
import { OPERATIONS } from '../parts/rule-of.ts';

const BASES = ['documented', 'assumed', 'forced', 'upstream'];
const FILTERS = ['operation', 'status', 'basis', 'key', 'text'];

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
  return (
    <search class="filters">
      <QueryChoice name="operation" label="Operation" options={OPERATIONS} />
      <QuerySearch name="status" label="Status" digits={3} />
      <QueryChoice name="basis" label="Basis" options={BASES} />
      <QuerySearch name="key" label="API key" />
      <QuerySearch name="text" label="Text" />
    </search>
  );
}
