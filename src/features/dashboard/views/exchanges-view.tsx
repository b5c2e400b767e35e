import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, copy, download } from '../parts/buttons.tsx';
import { isTyping } from '../parts/frame.tsx';
import { Table } from '../parts/table.tsx';
import { plural, Term } from '../parts/texts.tsx';
import {
  type Direction,
  findNeighbour,
  isPaused,
  type JournalState,
  PAGE_SIZE,
  useJournal,
} from '../state/journal.ts';
import { FIRST_REQUEST, formatCurlCommand, sendAndOpen } from '../state/requests.ts';
import { attempt, perform, useDebounced } from '../state/resource.ts';
import { formatHref, go, refine, route } from '../state/route.ts';
import { client, notice, reloadAll } from '../state/session.ts';
import { ExchangeDetail } from './exchange-detail.tsx';
import { RequestForm, RuleForm } from './exchange-forms.tsx';
import { EXCHANGE_COLUMNS, editRows } from './exchange-rows.tsx';

const SEARCH_DELAY_MS = 250;

export function ExchangesView() {
  const { item, query } = route.value;
  const number = Number(item);
  const search = (query.get('search') ?? '').trim();
  const filter = useDebounced(search, SEARCH_DELAY_MS);
  const before = Number(query.get('before')) || undefined;
  const journal = useJournal(filter, before, number);
  const { exchanges = [], total = 0 } = journal.shown.current ?? {};
  const oldest = exchanges.at(-1)?.number ?? 0;
  useEffect(() => {
    // What is opened by its address stands in the list, with newer ones above it.
    if (number < oldest || (before !== undefined && number >= before)) {
      refine({ before: number + PAGE_SIZE / 2 });
    }
  }, [item, oldest > 0]);
  useArrowKeys(journal, filter);
  useRowInPlace(item);
  const isMore = exchanges.length < total;
  const editsAbove = (index: number) => {
    const from = exchanges[index]?.number ?? (isMore ? Number.POSITIVE_INFINITY : 0);
    const to = exchanges[index - 1]?.number ?? before ?? Number.POSITIVE_INFINITY;
    return editRows(journal.edits.filter(({ after }) => after >= from && after < to));
  };
  const waiting = journal.waiting.toLocaleString('en');
  const pinned = Number(query.get('with'));
  const isOpen = number > 0 || item === 'new' || item === 'rule';
  const isSearching = journal.isSearching || search !== filter;
  const isEmpty = !isSearching && total === 0;
  return (
    <div class={!isOpen ? '' : pinned > 0 ? 'split paired' : 'split'}>
      <section aria-label="Exchanges">
        <ExchangeSearch problem={journal.problem} />
        <div class="bar">
          <span>
            {isSearching
              ? !journal.problem && 'Searching…'
              : `${plural(total, 'exchange')}${filter && ' match'}${before ? ` before ${before}` : ''}`}
          </span>
          {journal.waiting > 0 && (
            <Button class="main" label={`Show ${waiting} new`} onClick={() => journal.show()} />
          )}
          <span class="bar far">
            <a href={formatHref('exchanges', 'new')}>New request</a>
            <Button
              label={isPaused.value ? 'Resume' : 'Pause'}
              onClick={() => {
                isPaused.value = !isPaused.value;
              }}
            />
            <Button label="Export HAR" onClick={() => exportHar(filter)} />
            <Button
              label="Clear"
              of="the journal"
              confirm="All exchanges of this sandbox go; its records and settings stay."
              onClick={clear}
            />
          </span>
        </div>
        {(exchanges.length > 0 || journal.edits.length > 0) && (
          <Table
            class="exchanges"
            caption="Exchanges, the newest first"
            columns={EXCHANGE_COLUMNS}
            rows={exchanges}
            keyOf={(exchange) => exchange.number}
            opened={number}
            above={editsAbove}
          />
        )}
        {isEmpty && filter === '' && <FirstRequest />}
        {isEmpty && filter !== '' && (
          <p class="empty">
            No exchanges match these filters. <a href={formatHref('exchanges')}>Show all</a>
          </p>
        )}
        {isMore && <Button label="Load more" onClick={() => journal.more()} />}{' '}
        {before !== undefined && <Button label="Latest" onClick={() => refine({ before: '' })} />}
      </section>
      {item === 'new' && <RequestForm key={query.get('from')} />}
      {item === 'rule' && <RuleForm key={query.toString()} />}
      {number > 0 && (
        <ExchangeDetail
          number={number}
          known={exchanges.find((exchange) => exchange.number === number)}
          pinned={pinned}
          onStep={(towards) => step(journal, filter, towards)}
        />
      )}
    </div>
  );
}

function useRowInPlace(item: string | undefined): void {
  const find = () => document.querySelector('tr.opened');
  const last = useRef<string | undefined>(undefined);
  const before = find()?.getBoundingClientRect().top ?? 0;
  useLayoutEffect(() => {
    const row = find();
    if (row !== null && item !== last.current) {
      row.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    } else if (row !== null) {
      scrollBy({ top: row.getBoundingClientRect().top - before, behavior: 'instant' });
    }
    last.current = row === null ? undefined : item;
  });
}

async function clear(): Promise<void> {
  if (!(await perform('Journal cleared.', 'DELETE /requests'))) return;
  go('exchanges');
  reloadAll();
}

function exportHar(filter: string): Promise<boolean> {
  return attempt('Saved exchanges.har.', async () => {
    const query = { search: filter || undefined };
    download('exchanges.har', await (await client.send('GET /requests.har', { query })).text());
  });
}

let stepping = Promise.resolve();

function step(journal: JournalState, search: string, towards: Direction): void {
  const take = async () => {
    const { item } = route.value;
    const query = new URLSearchParams(route.value.query);
    const { exchanges = [] } = journal.shown.current ?? {};
    const index = exchanges.findIndex(({ number }) => String(number) === item);
    let next = item === undefined ? exchanges[0] : undefined;
    if (index >= 0) next = exchanges[index + (towards === 'older' ? 1 : -1)];
    if (next === undefined) {
      const found = await findNeighbour(Number(item), towards, search);
      next = found.next;
      if (found.isLatest) query.delete('before');
    }
    if (next !== undefined) go('exchanges', next.number, query, item !== undefined);
    else notice.value = { kind: 'done', text: `There is no ${towards} exchange.` };
  };
  // If the server is lost, the page says so already.
  stepping = stepping.then(take).catch(() => undefined);
}

const KEYS: Readonly<Record<string, Direction>> = {
  ArrowDown: 'older',
  j: 'older',
  ArrowUp: 'newer',
  k: 'newer',
};

function useArrowKeys(journal: JournalState, search: string): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { item } = route.value;
      const towards = KEYS[event.key];
      // Without an open exchange, the arrow keys scroll.
      const isFree = item === undefined ? event.key.length === 1 : Number(item) > 0;
      if (towards === undefined || !isFree || isTyping(event)) return;
      event.preventDefault();
      step(journal, search, towards);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}

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

function ExchangeSearch({ problem }: { readonly problem: string | undefined }) {
  const search = route.value.query.get('search') ?? '';
  const terms = search.split(/\s+/).filter(Boolean);
  const write = (text: string) => refine({ search: text, before: '' });
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
              label={label}
              onClick={() => toggle(chip)}
            />
          );
          return word === undefined ? button() : <Term word={word}>{button}</Term>;
        })}
      </div>
      <p id="search-help" class={problem === undefined ? 'hint' : 'hint problem'} role="status">
        {problem ?? (
          <>
            Words, or <code>method:DELETE</code> <code>status:409</code>{' '}
            <code>operation:getPet</code> <code>key:demo</code> <code>header:x-trace=1</code>{' '}
            <code>before:120</code>; <code>-</code> means not; <kbd>?</kbd> lists the shortcuts
          </>
        )}
      </p>
    </search>
  );
}

function FirstRequest() {
  const curl = formatCurlCommand(FIRST_REQUEST);
  return (
    <div class="card">
      <h2>No exchanges yet</h2>
      <p>Point your client at the address above, or send a first request. It appears here.</p>
      <pre class="body">{curl}</pre>
      <div class="bar">
        <Button class="main" label="Send this request" onClick={() => sendAndOpen(FIRST_REQUEST)} />
        <Button label="Copy" of="the command" onClick={() => copy(curl)} />
      </div>
    </div>
  );
}
