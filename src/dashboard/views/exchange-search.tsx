import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/buttons.tsx';
import { Term } from '../parts/texts.tsx';
import { place, refine } from '../state/place.ts';

/** Terms with one press. Of those in a group, one can be on. */
const CHIPS = [
  ['status:2xx', '2xx'],
  ['status:4xx', '4xx'],
  ['status:5xx', '5xx'],
  ['basis:assumed', 'assumed', 'assumed'],
  ['basis:forced', 'forced', 'forced'],
  ['finding:any', 'with findings', 'finding'],
  ['is:unmatched', 'unmatched', 'unmatched'],
  ['is:held', 'held', 'hold'],
] as const;

/** Milliseconds without a keystroke before the server is asked. */
const SEARCH_DELAY_MS = 250;

export function useSearch(): string {
  const search = place.value.query.get('search') ?? '';
  const [settled, settle] = useState(search);
  useEffect(() => {
    const timer = setTimeout(() => settle(search), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [search]);
  return settled;
}

function write(search: string): void {
  refine({ search, before: '' });
}

/** @param problem what the server says is wrong with the search */
export function ExchangeSearch({ problem }: { readonly problem: string | undefined }) {
  const search = place.value.query.get('search') ?? '';
  const terms = search.split(/\s+/).filter(Boolean);
  const toggle = (chip: string) => {
    const [field] = chip.split(':');
    const others = terms.filter((term) => !term.startsWith(`${field}:`));
    write([...others, ...(terms.includes(chip) ? [] : [chip])].join(' '));
  };
  return (
    <search>
      <div class="bar">
        <input
          type="search"
          class="search"
          aria-label="Search"
          aria-describedby="search-help"
          aria-invalid={problem !== undefined}
          placeholder="Search exchanges"
          maxLength={200}
          value={search}
          onInput={({ currentTarget: { value } }) => write(value)}
        />
        {CHIPS.map(([chip, label, word]) => {
          const button = (id?: string) => (
            <Button
              key={chip}
              aria-pressed={terms.includes(chip)}
              aria-describedby={id}
              onClick={() => toggle(chip)}
            >
              {label}
            </Button>
          );
          return word === undefined ? button() : <Term word={word}>{button}</Term>;
        })}
      </div>
      <p id="search-help" class={problem === undefined ? 'hint' : 'hint problem'} role="status">
        {problem ?? (
          <>
            Words, or <code>method:DELETE</code> <code>status:409</code>{' '}
            <code>operation:getPet</code> <code>key:demo</code> <code>header:x-trace=1</code>{' '}
            <code>before:120</code>; <code>-</code> means not
          </>
        )}
      </p>
    </search>
  );
}
