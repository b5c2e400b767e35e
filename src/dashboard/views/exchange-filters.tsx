import { OPERATIONS } from '../parts/rule-of.ts';
import { place, refine } from '../state/place.ts';

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
      <Choice name="operation" label="Operation" options={OPERATIONS} />
      <Entry name="status" label="Status" numeric />
      <Choice name="basis" label="Basis" options={BASES} />
      <Entry name="key" label="API key" />
      <Entry name="text" label="Text" />
    </search>
  );
}

interface FilterProps {
  readonly name: string;
  readonly label: string;
}

function Choice({ name, label, options }: FilterProps & { readonly options: readonly string[] }) {
  return (
    <label>
      {label}
      <select
        value={place.value.query.get(name) ?? ''}
        onChange={({ currentTarget }) => refine({ [name]: currentTarget.value })}
      >
        <option value="">all</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

function Entry({ name, label, numeric }: FilterProps & { readonly numeric?: true }) {
  return (
    <label>
      {label}
      <input
        type="search"
        size={numeric ? 5 : 12}
        inputMode={numeric ? 'numeric' : undefined}
        maxLength={numeric ? 3 : 200}
        value={place.value.query.get(name) ?? ''}
        onInput={({ currentTarget }) => refine({ [name]: currentTarget.value })}
      />
    </label>
  );
}
