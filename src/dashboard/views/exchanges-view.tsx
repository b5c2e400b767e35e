import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button, ConfirmButton, CopyButton, save } from '../parts/buttons.tsx';
import { isTyping } from '../parts/shortcuts.tsx';
import { Table } from '../parts/table.tsx';
import { plural } from '../parts/texts.tsx';
import { type Direction, ExchangeFeed, findNeighbours, PAGE_SIZE } from '../state/exchange-feed.ts';
import { formatHref, go, place, refine } from '../state/place.ts';
import { FIRST_REQUEST, formatCurlCommand, sendAndOpen } from '../state/requests.ts';
import { attempt } from '../state/resource.ts';
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

export function ExchangesView() {
  const { item, query } = place.value;
  const search = useSearch();
  const filter = search.trim();
  const before = Number(query.get('before')) || undefined;
  const feed = useMemo(() => new ExchangeFeed(filter, before), [filter, before, epoch.value]);
  useEffect(() => () => feed.close(), [feed]);
  const [isPaused, pause] = useState(false);
  feed.isHeld = isPaused;
  feed.opened = Number(item);
  // What was found before stays until the next search has an answer.
  const last = useRef(feed.shown.value);
  if (feed.shown.value !== undefined) last.current = feed.shown.value;
  const { exchanges = [], total = 0 } = last.current ?? {};
  const edits = filter === '' ? feed.edits.value : [];
  useArrowKeys(feed, filter);
  const oldest = feed.shown.value?.exchanges.at(-1)?.number ?? 0;
  useEffect(() => {
    // What is opened by its address stands in the list, with newer ones above it.
    const number = Number(item);
    if (number < oldest || (before !== undefined && number >= before)) {
      refine({ before: String(number + PAGE_SIZE / 2) });
    }
  }, [item, oldest > 0]);
  const other = Number(query.get('with'));
  useRowInPlace(item);
  return (
    <div class={item === undefined ? '' : other > 0 ? 'split paired' : 'split'}>
      <section aria-label="Exchanges">
        <ExchangeSearch problem={feed.problem.value} />
        <div class="bar">
          <span>
            {plural(total, 'exchange')}
            {filter !== '' && ' match'}
            {before !== undefined && ` before ${before}`}
          </span>
          {feed.waiting.value > 0 && (
            <Button class="main" onClick={() => feed.show()}>
              Show {feed.waiting.value.toLocaleString('en')} new
            </Button>
          )}
          <span class="bar far">
            <a href={formatHref('exchanges', 'new')}>New request</a>
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
            above={(index) => editRows(findEditsAbove(edits, exchanges, index))}
          />
        )}
        {last.current !== undefined && total === 0 && <Nothing filtered={filter !== ''} />}
        {exchanges.length < total && <Button onClick={() => feed.more()}>Load more</Button>}{' '}
        {before !== undefined && <Button onClick={() => refine({ before: '' })}>Latest</Button>}
      </section>
      {item === 'new' && <RequestForm key={query.get('from')} />}
      {item === 'rule' && <RuleForm />}
      {item !== undefined && !['new', 'rule'].includes(item) && (
        <ExchangeDetail
          number={Number(item)}
          known={exchanges.find(({ number }) => number === Number(item))}
          pinned={other}
          onStep={(towards) => step(feed, filter, towards)}
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

function findEditsAbove(
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

async function exportHar(filter: string): Promise<void> {
  await attempt('Saved exchanges.har.', async () => {
    const query = { search: filter || undefined };
    save('exchanges.har', await (await client.send('GET /requests.har', { query })).text());
  });
}

/** The last step. The next one waits for it, so that no press of a key is lost. */
let stepping = Promise.resolve();

function step(feed: ExchangeFeed, search: string, towards: Direction): void {
  const find = () => {
    const list = feed.shown.value?.exchanges ?? [];
    const index = list.findIndex(({ number }) => String(number) === place.value.item);
    return index < 0 ? undefined : list[index + (towards === 'older' ? 1 : -1)];
  };
  const take = async () => {
    const query = new URLSearchParams(place.value.query);
    let next = find();
    if (next === undefined && towards === 'older') {
      await feed.more();
      next = find();
    }
    if (next === undefined) {
      const page = await findNeighbours(Number(place.value.item), towards, search);
      [next] = page;
      if (towards === 'newer' && page.length < PAGE_SIZE) query.delete('before');
    }
    if (next !== undefined) go('exchanges', String(next.number), query, true);
    else notice.value = { kind: 'done', text: `There is no ${towards} exchange.` };
  };
  // If the server is lost, the page says so already.
  stepping = stepping.then(take).catch(() => undefined);
}

function useArrowKeys(feed: ExchangeFeed, search: string): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key } = event;
      if (!(Number(place.value.item) > 0) || isTyping(event)) return;
      if (!/^(?:ArrowUp|ArrowDown|j|k)$/.test(key)) return;
      event.preventDefault();
      step(feed, search, /^(?:ArrowDown|j)$/.test(key) ? 'older' : 'newer');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}

function Nothing({ filtered }: { readonly filtered: boolean }) {
  if (filtered) {
    return (
      <p class="empty">
        No exchanges match these filters. <a href={formatHref('exchanges')}>Show all</a>
      </p>
    );
  }
  const curl = formatCurlCommand(FIRST_REQUEST);
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
