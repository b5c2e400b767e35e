import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button, ConfirmButton, CopyButton, save } from '../parts/buttons.tsx';
import { isTyping } from '../parts/shortcuts.tsx';
import { Table } from '../parts/table.tsx';
import { plural } from '../parts/texts.tsx';
import {
  type Direction,
  ExchangeFeed,
  findNeighbours,
  PAGE_SIZE,
  readJournal,
} from '../state/exchange-feed.ts';
import { go, hrefOf, place, refine } from '../state/place.ts';
import { curlOf, FIRST_REQUEST, sendAndOpen } from '../state/requests.ts';
import { attempt, useResource } from '../state/resource.ts';
import {
  client,
  type EditView,
  epoch,
  notice,
  type RecordedExchange,
  reloadAll,
} from '../state/session.ts';
import { ExchangeDetail } from './exchange-detail.tsx';
import { EXCHANGE_COLUMNS, editRows } from './exchange-rows.tsx';
import { ExchangeSearch, useSearch } from './exchange-search.tsx';
import { RequestForm } from './request-form.tsx';
import { RuleForm } from './rule-form.tsx';

/** The exchanges of the sandbox, as they happen, and one of them in detail. */
export function ExchangesView() {
  const { item, query } = place.value;
  const search = useSearch();
  const filter = search.trim();
  const before = query.get('before') ?? '';
  const feed = useMemo(() => new ExchangeFeed(filter), [filter, epoch.value]);
  useEffect(() => () => feed.close(), [feed]);
  const [isPaused, pause] = useState(false);
  feed.isHeld = isPaused;
  feed.opened = Number(item);
  const older = useResource(`${before} ${filter}`, async (signal) =>
    before ? readJournal(filter, { before: Number(before) }, signal) : undefined,
  );
  const isLive = before === '';
  // What was found before stays until the next search has an answer.
  const last = useRef(feed.shown.value);
  if (feed.shown.value !== undefined) last.current = feed.shown.value;
  const latest = last.current;
  const exchanges = (isLive ? latest : older.value)?.exchanges ?? [];
  const edits = filter === '' ? feed.edits.value : [];
  const rows = { exchanges, filter, isLive, onLatest: () => feed.show() };
  useArrowKeys(rows);
  const oldest = latest?.exchanges.at(-1)?.number ?? 0;
  useEffect(() => {
    // What is opened by its address stands in the list, with newer ones above it.
    if (isLive && Number(item) < oldest) refine({ before: String(Number(item) + PAGE_SIZE / 2) });
  }, [item, oldest > 0]);
  const other = Number(query.get('with'));
  useRowInPlace(item);
  return (
    <div class={item === undefined ? '' : other > 0 ? 'split paired' : 'split'}>
      <section aria-label="Exchanges">
        <ExchangeSearch problem={feed.problem.value} />
        <div class="bar">
          <span>
            {plural(latest?.total ?? 0, 'exchange')}
            {filter !== '' && ' match'}
          </span>
          {feed.waiting.value > 0 && (
            <Button class="main" onClick={() => feed.show()}>
              Show {feed.waiting.value.toLocaleString('en')} new
            </Button>
          )}
          <span class="bar far">
            <a href={hrefOf('exchanges', 'new')}>New request</a>
            <Button onClick={() => pause(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Button>
            <Button onClick={() => exportHar(filter)}>Export HAR</Button>
            <ConfirmButton label="Clear" name="Clear the journal" onConfirm={clear}>
              All exchanges of this sandbox go; its records and settings stay.
            </ConfirmButton>
          </span>
        </div>
        {exchanges.length > 0 && (
          <Table
            class="exchanges"
            caption="Exchanges, the newest first"
            columns={EXCHANGE_COLUMNS}
            rows={exchanges}
            keyOf={({ number }) => number}
            opened={Number(item)}
            above={(index) => editRows(editsAbove(edits, exchanges, index))}
          />
        )}
        {latest?.exchanges.length === 0 && isLive && <Nothing filtered={filter !== ''} />}
        <Pages {...rows} />
      </section>
      {item === 'new' && <RequestForm key={query.get('from')} />}
      {item === 'rule' && <RuleForm />}
      {item !== undefined && !['new', 'rule'].includes(item) && (
        <ExchangeDetail
          number={Number(item)}
          known={exchanges.find(({ number }) => number === Number(item))}
          pinned={other}
          onStep={(towards) => step(rows, towards)}
        />
      )}
    </div>
  );
}

/** Scrolls so that the open row stays where it was when others come above it. */
function useRowInPlace(item: string | undefined): void {
  const top = () => document.querySelector('tr.opened')?.getBoundingClientRect().top;
  const last = useRef<string | undefined>(undefined);
  const before = top();
  useLayoutEffect(() => {
    const after = top();
    if (item === last.current && before !== undefined && after !== undefined && after !== before) {
      scrollBy({ top: after - before, behavior: 'instant' });
    }
    last.current = item;
  });
}

/** The changes between an exchange and the newer one above it. */
function editsAbove(
  edits: readonly EditView[],
  exchanges: readonly RecordedExchange[],
  index: number,
): readonly EditView[] {
  const from = exchanges[index]?.number ?? 0;
  const to = exchanges[index - 1]?.number ?? Number.POSITIVE_INFINITY;
  return edits.filter(({ after }) => after >= from && after < to);
}

async function clear(): Promise<void> {
  if (!(await attempt('Journal cleared.', () => client.call('DELETE /requests')))) return;
  go('exchanges');
  reloadAll();
}

/** Saves the exchanges that match, for the developer tools of browsers. */
async function exportHar(filter: string): Promise<void> {
  await attempt('Saved exchanges.har.', async () => {
    const query = { search: filter || undefined };
    save('exchanges.har', await (await client.send('GET /requests.har', { query })).text());
  });
}

interface ExchangePage {
  readonly exchanges: readonly RecordedExchange[];
  readonly filter: string;
  /** Whether they are the latest ones, as they come. */
  readonly isLive: boolean;
  readonly onLatest: () => void;
}

/** Moves the list by a page. */
function Pages(rows: ExchangePage) {
  const { exchanges, isLive } = rows;
  if (isLive && exchanges.length < PAGE_SIZE) return null;
  return (
    <nav class="bar" aria-label="Pages of exchanges">
      <Button disabled={isLive} onClick={() => turn(rows, 'newer')}>
        Newer
      </Button>
      <Button disabled={exchanges.length < PAGE_SIZE} onClick={() => turn(rows, 'older')}>
        Older
      </Button>
      {!isLive && <a href={hrefOf('exchanges')}>Latest</a>}
    </nav>
  );
}

/** Shows the next page of the journal, and returns its exchange that is next to this page. */
async function turn(
  { exchanges, filter, onLatest }: ExchangePage,
  towards: Direction,
  item = place.value.item,
  from = (towards === 'older' ? exchanges.at(-1) : exchanges[0])?.number ?? 0,
): Promise<void> {
  const page = await findNeighbours(from, towards, filter);
  const [next] = page;
  if (next === undefined) {
    notice.value = { kind: 'done', text: `There is no ${towards} exchange.` };
    return;
  }
  const query = new URLSearchParams(place.value.query);
  const highest = towards === 'older' ? next.number : (page.at(-1)?.number ?? 0);
  if (towards === 'newer' && page.length < PAGE_SIZE) {
    query.delete('before');
    onLatest();
  } else query.set('before', String(highest + 1));
  go('exchanges', item === place.value.item ? item : String(next.number), query, item === '');
}

/** The last step. The next one waits for it, so that no press of a key is lost. */
let stepping = Promise.resolve();

/** Opens the next older or newer exchange: that in the list, or the first of the next page. */
function step(rows: ExchangePage, towards: Direction): void {
  const take = async () => {
    const { item, query } = place.value;
    const index = rows.exchanges.findIndex(({ number }) => String(number) === item);
    const next = index < 0 ? undefined : rows.exchanges[index + (towards === 'older' ? 1 : -1)];
    if (next === undefined) await turn(rows, towards, '', Number(item));
    else go('exchanges', String(next.number), query, true);
  };
  // If the server is lost, the page says so already.
  stepping = stepping.then(take).catch(() => undefined);
}

/** Up and down, or k and j, lead to the next exchange while one is open. */
function useArrowKeys(rows: ExchangePage): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key } = event;
      if (!(Number(place.value.item) > 0) || isTyping(event)) return;
      if (!/^(?:ArrowUp|ArrowDown|j|k)$/.test(key)) return;
      event.preventDefault();
      step(rows, /^(?:ArrowDown|j)$/.test(key) ? 'older' : 'newer');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}

function Nothing({ filtered }: { readonly filtered: boolean }) {
  if (filtered) {
    return (
      <p class="empty">
        No exchanges match these filters. <a href={hrefOf('exchanges')}>Show all</a>
      </p>
    );
  }
  const curl = curlOf(FIRST_REQUEST);
  return (
    <div class="card empty-state">
      <h2>No exchanges yet</h2>
      <p>Point your client at the address above, or send a first request. It appears here.</p>
      <section class="body" aria-label="A first request">
        <pre>{curl}</pre>
      </section>
      <div class="bar">
        <Button class="main" onClick={() => sendAndOpen(FIRST_REQUEST)}>
          Send this request
        </Button>
        <CopyButton label="Copy" name="Copy the command" text={() => curl} />
      </div>
    </div>
  );
}
