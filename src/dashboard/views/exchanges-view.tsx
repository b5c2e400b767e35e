import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { call } from '../client/control-calls.ts';
import { plural } from '../parts/visible-text.ts';
import { ExchangeFeed } from '../state/exchange-feed.ts';
import { place } from '../state/place.ts';
import { perform } from '../state/resource.ts';
import { controlPath, epoch, sandbox } from '../state/session.ts';
import { ExchangeDetail } from './exchange-detail.tsx';
import { ExchangeFilters, filterIn } from './exchange-filters.tsx';
import { ExchangeRows } from './exchange-rows.tsx';

/** Rows that are drawn at first; more on request. */
const FIRST_ROWS = 30;
const MORE_ROWS = 250;

/** The exchanges of the sandbox, as they happen. */
export function ExchangesView() {
  const { item, query } = place.value;
  const filter = filterIn(query);
  const feed = useMemo(() => new ExchangeFeed(filter), [filter, epoch.value]);
  useEffect(() => () => feed.close(), [feed]);
  const rows = useSignal(FIRST_ROWS);
  const exchanges = feed.shown.value;
  const opened = Number(item);
  return (
    <div class={item === undefined ? '' : 'split'}>
      <section aria-label="Exchanges">
        <ExchangeFilters />
        <FeedControls feed={feed} />
        {exchanges.length === 0 && feed.loaded.value && <Nothing filtered={filter !== ''} />}
        {exchanges.length > 0 && (
          <ExchangeRows exchanges={exchanges} most={rows.value} opened={opened} />
        )}
        {exchanges.length > rows.value && (
          <button
            type="button"
            onClick={() => {
              rows.value += MORE_ROWS;
            }}
          >
            Show more of {exchanges.length} exchanges
          </button>
        )}
      </section>
      {item !== undefined && (
        <ExchangeDetail
          key={item}
          number={opened}
          known={exchanges.find(({ number }) => number === opened)}
        />
      )}
    </div>
  );
}

function FeedControls({ feed }: { readonly feed: ExchangeFeed }) {
  const paused = feed.paused.value;
  const waiting = feed.waiting.value;
  return (
    <div class="bar">
      <button type="button" aria-pressed={paused} onClick={() => feed.setPaused(!paused)}>
        {paused ? `Resume (${waiting} new)` : 'Pause'}
      </button>
      <button
        type="button"
        onClick={async () => {
          if (await perform('Journal cleared.', () => call('DELETE', '/requests'))) feed.clear();
        }}
      >
        Clear
      </button>
      {feed.missed.value > 0 && (
        <span class="quiet">
          {plural(feed.missed.value, 'exchange')} came too fast to show; set filters to see fewer
        </span>
      )}
    </div>
  );
}

function Nothing({ filtered }: { readonly filtered: boolean }) {
  if (filtered) return <p class="empty">No exchanges match these filters.</p>;
  const baseUrl = location.origin + controlPath(sandbox).replace(/__mock$/, 'v1');
  return (
    <p class="empty">
      No exchanges yet. Send requests to <code>{baseUrl}</code>, and they appear here.
    </p>
  );
}
