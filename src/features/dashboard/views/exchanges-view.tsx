import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, copy, download, isTyping, Menu, useKeys } from '../parts/buttons.tsx';
import { Snippet } from '../parts/message.tsx';
import { Late } from '../parts/panel.tsx';
import { ReleaseAll } from '../parts/strips.tsx';
import { Table } from '../parts/table.tsx';
import {
  type Direction,
  findNeighbour,
  isHeldBack,
  type JournalState,
  PAGE_SIZE,
  useJournal,
} from '../state/journal.ts';
import { firstRequest, sendAndOpen } from '../state/requests.ts';
import { attempt, perform, useDebounced } from '../state/resource.ts';
import { formatHref, go, plural, refine, route, withQuery } from '../state/route.ts';
import { client, notice, reloadAll, serviceUrl } from '../state/session.ts';
import { ExchangeDetail } from './exchange-detail.tsx';
import { EXCHANGE_COLUMNS, editRows } from './exchange-rows.tsx';
import { ExchangeSearch } from './exchange-search.tsx';
import { RequestForm } from './request-form.tsx';

const SEARCH_DELAY_MS = 250;

export function ExchangesView() {
  const { item, query } = route.value;
  const number = Number(item);
  const search = (query.get('search') ?? '').trim();
  const filter = useDebounced(search, SEARCH_DELAY_MS);
  const before = Number(query.get('before')) || undefined;
  const list = useRef<HTMLDivElement>(null);
  const journal = useJournal(filter, before, number, list);
  const { exchanges = [], total = 0, dropped = 0 } = journal.shown.current ?? {};
  const oldest = exchanges.at(-1)?.number ?? 0;
  useEffect(() => {
    // What is opened by its address stands in the list, with newer ones above it.
    if (number < oldest || (before !== undefined && number >= before)) {
      refine({ before: number + PAGE_SIZE / 2 });
    }
  }, [item, oldest > 0]);
  useKeys((event) => {
    const { item: opened } = route.value;
    const towards = KEYS[event.key];
    if (towards === undefined) return;
    if (opened === undefined && event.key.length > 1) focusRow(event, towards);
    else if ((opened === undefined || Number(opened) > 0) && !isTyping(event)) {
      event.preventDefault();
      step(journal, filter, towards);
    }
  });
  useLayoutEffect(() => {
    document.querySelector('tr.opened')?.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  }, [item, journal.shown.current]);
  const isMore = exchanges.length < total;
  const lastEdit = journal.edits.findLast(({ isUndone }) => !isUndone);
  const editsAbove = (index: number) => {
    const from = exchanges[index]?.number ?? (isMore ? Number.POSITIVE_INFINITY : 0);
    const to = exchanges[index - 1]?.number ?? before ?? Number.POSITIVE_INFINITY;
    const here = journal.edits.filter(({ after }) => after >= from && after < to);
    return editRows(here, lastEdit);
  };
  const isOpen = number > 0 || item === 'new' || item === 'rule';
  const isSearching = journal.isSearching || search !== filter;
  const isEmpty = !isSearching && total === 0;
  const showNew = () => {
    scrollTo({ top: 0, behavior: 'instant' });
    journal.show();
  };
  const noun = filter === '' ? 'exchange' : 'match';
  const parts = [
    plural(total, noun, filter === '' ? 'exchanges' : 'matches'),
    before && `before ${before}`,
    journal.problem && 'of the last search that worked',
    dropped > 0 && `${dropped.toLocaleString('en')} older ones are no longer kept`,
  ];
  return (
    <div class={isOpen ? 'split' : ''}>
      <section aria-label="Exchanges">
        <ExchangeSearch problem={journal.problem}>
          <a href={formatHref('exchanges', 'new')}>New request</a>
          <Menu label="More" of="about the list">
            <Button label="Export HAR" onClick={() => exportHar(filter)} />
            <Button
              label="Clear"
              of="the journal"
              confirm="All exchanges of this sandbox go; its records and settings stay."
              onClick={clear}
            />
          </Menu>
        </ExchangeSearch>
        <p class="hint" role="status">
          {isSearching && !journal.problem ? 'Searching…' : parts.filter(Boolean).join(', ')}
        </p>
        {journal.waiting !== '' && (
          <div class="fresh">
            <Button class="main" label={journal.waiting} onClick={showNew} />
          </div>
        )}
        {exchanges.filter(isHeldBack).length > 1 && <ReleaseAll />}
        <div ref={list}>
          {(exchanges.length > 0 || journal.edits.length > 0) && (
            <Table
              class="exchanges"
              caption="Exchanges, the newest first"
              columns={EXCHANGE_COLUMNS}
              rows={exchanges}
              keyOf={(exchange) => exchange.number}
              opened={number}
              marked={[Number(query.get('pin'))]}
              above={editsAbove}
            />
          )}
        </div>
        {isEmpty && filter === '' && (before === undefined ? <FirstRequest /> : NOTHING_BEFORE)}
        {isEmpty && filter !== '' && (
          <p class="empty">
            No exchanges match these filters. <a href={formatHref('exchanges')}>Show all</a>
          </p>
        )}
        <p class="bar">
          {isMore && (
            <Button label="Older" of="exchanges" onClick={() => refine({ before: oldest })} />
          )}
          {before !== undefined && <Button label="Latest" onClick={() => refine({ before: '' })} />}
        </p>
      </section>
      {item === 'new' && <RequestForm key={query.get('from')} />}
      {item === 'rule' && (
        <Late load={() => import('./rule-form.tsx')}>
          {({ RuleForm }) => <RuleForm key={query.toString()} />}
        </Late>
      )}
      {number > 0 && (
        <ExchangeDetail
          known={exchanges.find((it) => it.number === number && !isHeldBack(it))}
          onStep={(towards) => step(journal, filter, towards)}
        />
      )}
    </div>
  );
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

const NOTHING_BEFORE = <p class="empty">The journal no longer has what came before.</p>;

let stepping = Promise.resolve();

function step(journal: JournalState, search: string, towards: Direction): void {
  const take = async () => {
    const { item } = route.value;
    const query = withQuery({ with: '' });
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

/** Leads the focus to the next row: to the first one from the search, and where nothing has it. */
function focusRow(event: KeyboardEvent, towards: Direction): void {
  const { activeElement } = document;
  const isSearch = activeElement?.matches('[type="search"]');
  if (!isSearch && (isTyping(event) || !activeElement?.matches('body, main, h1, tr *'))) return;
  const rows = [...document.querySelectorAll<HTMLElement>('.place a')];
  const at = rows.findIndex((row) => row.closest('tr')?.contains(activeElement));
  const next = rows[at + (towards === 'older' ? 1 : -1)];
  if (next !== undefined) event.preventDefault();
  next?.focus();
}

function FirstRequest() {
  const request = firstRequest();
  return (
    <div class="card">
      <h2>No exchanges yet</h2>
      <p>Point your client at this base URL:</p>
      <p class="bar">
        <code>{serviceUrl}</code>
        <Button class="main" label="Copy the URL" onClick={() => copy(serviceUrl)} />
      </p>
      <Snippet of={request} />
      <div class="bar">
        <Button label="Send this request" onClick={() => sendAndOpen(request)} />
        <span class="quiet" role="status">
          Waiting for your first call…
        </span>
      </div>
    </div>
  );
}
