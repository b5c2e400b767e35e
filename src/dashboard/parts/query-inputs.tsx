import { place, refine } from '../state/place.ts';

interface InputProps {
  /** The member of the query in the page's address. */
  readonly name: string;
  readonly label: string;
}

/** A search field that is kept in the page's address. Its results start at their first page. */
export function QuerySearch({ name, label, digits }: InputProps & { readonly digits?: number }) {
  return (
    <label>
      {label}
      <input
        type="search"
        size={digits ? digits + 2 : 12}
        inputMode={digits ? 'numeric' : undefined}
        maxLength={digits ?? 200}
        value={place.value.query.get(name) ?? ''}
        onInput={({ currentTarget }) => refine({ [name]: currentTarget.value, page: '' })}
      />
    </label>
  );
}

/** A choice that is kept in the page's address. */
export function QueryChoice({
  name,
  label,
  options,
}: InputProps & { readonly options: readonly string[] }) {
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

/** A switch that is kept in the page's address. */
export function QueryToggle({ name, label }: InputProps) {
  const isOn = place.value.query.has(name);
  return (
    <button type="button" aria-pressed={isOn} onClick={() => refine({ [name]: isOn ? '' : 'yes' })}>
      {label}
    </button>
  );
}
