import type { ComponentChildren } from 'preact';
import { Button } from '../parts/buttons.tsx';
import { QuerySearch } from '../parts/form.tsx';
import { Prose, Term } from '../parts/texts.tsx';
import { refine, route } from '../state/route.ts';

const CHIPS = [
  ['status:2xx', '2xx'],
  ['-status:2xx', 'failed'],
  ['status:4xx', '4xx'],
  ['status:5xx', '5xx'],
  ['basis:assumed', 'assumed', 'assumed'],
  ['basis:forced', 'forced', 'forced'],
  ['finding:any', 'with findings', 'finding'],
  ['-is:manual', 'not by hand', 'manual'],
] as const;

/** An example of each; a test compares them with those that the server takes. */
const FIELDS =
  'method:DELETE path:orders status:4xx operation:getPet key:demo header:x-trace=1 body:Rex basis:assumed by:cancel-again finding:any is:held is:replay hold:any fault:reset trace:4bf92f after:99 before:120';

interface SearchProps {
  readonly problem: string | undefined;
  readonly children: ComponentChildren;
}

export function ExchangeSearch({ problem, children }: SearchProps) {
  const search = route.value.query.get('search') ?? '';
  const terms = search.split(/\s+/).filter(Boolean);
  const toggle = (chip: string) => {
    const others = terms.filter((term) => fieldOf(term) !== fieldOf(chip));
    const search = [...others, ...(terms.includes(chip) ? [] : [chip])].join(' ');
    refine({ search, before: '' });
  };
  return (
    <search>
      <div class="bar">
        <QuerySearch
          name="search"
          placeholder="Words, or status:409 method:DELETE -key:demo"
          problem={problem}
        />
        <Button label="?" aria-label="What you can type" popovertarget="search-words" />
        <div id="search-words" popover="auto" class="menu-list">
          <SearchHelp />
        </div>
        {children}
      </div>
      <div class="bar">
        {CHIPS.map(([chip, label, word]) => {
          const button = (id?: string) => (
            <Button
              key={chip}
              aria-pressed={terms.includes(chip)}
              aria-describedby={id}
              label={label}
              onClick={() => toggle(chip)}
            />
          );
          return word === undefined ? button() : <Term word={word}>{button}</Term>;
        })}
      </div>
      {problem !== undefined && (
        <p id="search-problem" class="problem" role="alert">
          {problem}
        </p>
      )}
    </search>
  );
}

/** The field of a term, `status` for `-status` too. A new term replaces one of its field. */
function fieldOf(term: string): string {
  return term.replace(/^-(?=status:)|(?<=:).*/g, '');
}

function SearchHelp() {
  return (
    <>
      <p>Words in the path, the headers, the bodies and the reasons; a number is also a status.</p>
      <p>
        Fields: <Prose text={FIELDS.replaceAll(/\S+/g, '`$&`')} />
      </p>
      <p>
        All terms have to match. <code>-</code> before one means not, so <code>-status:2xx</code>{' '}
        finds what failed; <code>"two words"</code> belong together.
      </p>
    </>
  );
}
