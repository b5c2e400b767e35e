import { place, refine } from '../state/place.ts';
import { Button } from './buttons.tsx';

const FIRST_PAGE = { page: '', before: '' };

interface InputProps {
  /** The member of the query in the page's address. */
  readonly name: string;
  readonly label: string;
  /** What can be found; the label is for screen readers only then. */
  readonly placeholder?: string;
  /** What it chooses from; otherwise it takes a text. */
  readonly options?: readonly string[];
}

/** A field that is kept in the page's address. Its results start at their first page. */
export function QueryInput({ name, label, placeholder, options }: InputProps) {
  const input = {
    value: place.value.query.get(name) ?? '',
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      refine({ [name]: currentTarget.value, ...FIRST_PAGE }),
  };
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the two is in it
    <label class={placeholder === undefined ? 'field' : 'search'}>
      <span class={placeholder && 'unseen'}>{label}</span>
      {options === undefined ? (
        <input type="search" placeholder={placeholder} size={12} maxLength={200} {...input} />
      ) : (
        <select {...input}>
          <option value="">all</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

interface ChipProps extends Pick<InputProps, 'name' | 'label'> {
  readonly value?: string;
}

/** A switch that is kept in the page's address. Of those with the same name, one can be on. */
export function QueryChip({ name, label, value = 'true' }: ChipProps) {
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
