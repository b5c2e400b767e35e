import { place, refine } from '../state/place.ts';
import { Button } from './buttons.tsx';

export function QuerySearch({ name, what }: { readonly name: string; readonly what: string }) {
  return (
    <input
      type="search"
      class="search"
      aria-label="Search"
      placeholder={`Search ${what}`}
      maxLength={200}
      value={place.value.query.get(name) ?? ''}
      onInput={({ currentTarget: { value } }) => refine({ [name]: value })}
    />
  );
}

interface ChipProps {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
}

export function QueryChip({ name, label, value = 'true' }: ChipProps) {
  const isOn = place.value.query.get(name) === value;
  return (
    <Button aria-pressed={isOn} onClick={() => refine({ [name]: isOn ? '' : value })}>
      {label}
    </Button>
  );
}
