import { place, refine } from '../state/place.ts';
import { Button } from './buttons.tsx';

interface InputProps {
  /** The member of the query in the page's address. */
  readonly name: string;
  readonly label: string;
}

interface SearchProps extends InputProps {
  readonly digits?: number;
  /** What can be found; the label is for screen readers only then. */
  readonly placeholder?: string;
}

/** A search field that is kept in the page's address. Its results start at their first page. */
export function QuerySearch({ name, label, digits, placeholder }: SearchProps) {
  return (
    <label class={placeholder === undefined ? 'field' : 'search'}>
      <span class={placeholder && 'unseen'}>{label}</span>
      <input
        type="search"
        placeholder={placeholder}
        size={digits ? digits + 2 : 12}
        inputMode={digits ? 'numeric' : undefined}
        maxLength={digits ?? 200}
        value={place.value.query.get(name) ?? ''}
        onInput={({ currentTarget }) => refine({ [name]: currentTarget.value, ...FIRST_PAGE })}
      />
    </label>
  );
}

const FIRST_PAGE = { page: '', before: '' };

/** A choice that is kept in the page's address. */
export function QueryChoice({
  name,
  label,
  options,
}: InputProps & { readonly options: readonly string[] }) {
  return (
    <label class="field">
      {label}
      <select
        value={place.value.query.get(name) ?? ''}
        onChange={({ currentTarget }) => refine({ [name]: currentTarget.value, ...FIRST_PAGE })}
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

/** A switch that is kept in the page's address. Of those with the same name, one can be on. */
export function QueryChip({
  name,
  label,
  value = 'yes',
}: InputProps & { readonly value?: string }) {
  const isOn = place.value.query.get(name) === value;
  return (
    <Button
      aria-pressed={isOn}
      onClick={() => refine({ [name]: isOn ? '' : value, ...FIRST_PAGE })}
    >
      {label}
    </Button>
  );
}
