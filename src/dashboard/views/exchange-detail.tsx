import { Button, CopyButton, Menu } from '../parts/buttons.tsx';
import { Panel } from '../parts/panel.tsx';
import { Await, formatDuration, formatTime, Prose, visible } from '../parts/texts.tsx';
import { formatHref, go, place, refine } from '../state/place.ts';
import {
  copyRequest,
  formatBody,
  formatCurlCommand,
  formatFetch,
  sendAgain,
  whyNotCopied,
} from '../state/requests.ts';
import { useResource } from '../state/resource.ts';
import { client, type RecordedExchange } from '../state/session.ts';
import { BasisBadge, ReleaseButton, StatusBadge, sortReasons } from './exchange-rows.tsx';
import { Message } from './message.tsx';
import { Alternatives, StoreChanges } from './time-travel.tsx';

interface DetailProps {
  readonly number: number;
  readonly known: RecordedExchange | undefined;
  /** The number of the exchange to compare with; NaN or 0 for none. */
  readonly pinned: number;
  readonly onStep: (towards: 'older' | 'newer') => void;
}

export function ExchangeDetail({ number, known, pinned, onStep }: DetailProps) {
  const exchange = useExchange(number, known);
  const other = useExchange(pinned);
  const steps = (
    <span class="actions">
      <Button onClick={() => onStep('newer')}>Newer</Button>
      <Button onClick={() => onStep('older')}>Older</Button>
    </span>
  );
  return (
    <>
      <Panel title={`Exchange ${number}`} beside={steps} close="Close" onClose={close}>
        <Await of={exchange}>
          {(shown) => <Content key={number} exchange={shown} other={other.value} />}
        </Await>
      </Panel>
      {pinned > 0 && (
        <Panel
          quiet
          title={`Pinned: exchange ${pinned}`}
          close="Unpin"
          onClose={() => refine({ with: '' })}
        >
          <Await of={other}>
            {(shown) => <Content key={pinned} exchange={shown} other={exchange.value} isPinned />}
          </Await>
        </Panel>
      )}
    </>
  );
}

function useExchange(number: number, known?: RecordedExchange) {
  const loaded = useResource(`${number}`, async (signal) =>
    number > 0
      ? (known ?? client.call('GET /requests/{number}', { path: { number }, signal }))
      : undefined,
  );
  const value = known ?? loaded.value;
  return { ...loaded, value: value?.number === number ? value : undefined };
}

function close(): void {
  const { item = '' } = place.value;
  const query = new URLSearchParams(place.value.query);
  query.delete('with');
  go('exchanges', undefined, query);
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`a[aria-label="Exchange ${Number(item)}"]`);
    (row ?? document.querySelector<HTMLElement>('h1'))?.focus();
  });
}

interface ContentProps {
  readonly exchange: RecordedExchange;
  readonly other: RecordedExchange | undefined;
  readonly isPinned?: boolean;
}

function Content({ exchange, other, isPinned = false }: ContentProps) {
  const { number, method, target, at, delay, duration, replays, request, reply } = exchange;
  const [reason = ''] = sortReasons(exchange);
  const time = `${formatTime(at)} UTC, ${formatDuration(duration)}`;
  return (
    <>
      <p class="bar">
        <StatusBadge {...exchange} /> <b>{visible(reason)}</b> <ReleaseButton of={exchange} />
      </p>
      <p class="quiet">
        {time}
        {delay > 0 && `, ${delay} ms of it delay`}
        {replays !== undefined && (
          <>
            , replays <a href={formatHref('exchanges', String(replays))}>exchange {replays}</a>
          </>
        )}
      </p>
      {other !== undefined && !isPinned && <b>{formatComparison(exchange, other)}</b>}
      {!isPinned && <Actions exchange={exchange} />}
      <div class="sides">
        <div>
          <h3>Request</h3>
          <p class="mono">
            <b>{visible(method)}</b> <bdi>{visible(target)}</bdi>
          </p>
          <Message of={request} name={`request-${number}`} other={other?.request.body} />
        </div>
        <div>
          <h3>Reply</h3>
          <p>
            <StatusBadge {...exchange} /> <BasisBadge {...exchange} />
          </p>
          <Message of={reply} name={`reply-${number}`} other={other?.reply.body} />
        </div>
      </div>
      <Why exchange={exchange} />
      {!isPinned && (
        <>
          <Alternatives of={exchange} />
          <StoreChanges of={exchange} />
        </>
      )}
    </>
  );
}

const COPIES = [
  ['curl', formatCurlCommand],
  ['fetch', formatFetch],
] as const;

function Actions({ exchange }: { readonly exchange: RecordedExchange }) {
  const { number, operation, request } = exchange;
  const whyNot = whyNotCopied(exchange);
  const leadTo = (form: string) => {
    const query = new URLSearchParams(place.value.query);
    query.set('from', String(number));
    go('exchanges', form, query);
  };
  return (
    <>
      <div class="bar">
        <Button class="main" disabled={request.cut} onClick={() => sendAgain(exchange)}>
          Send again
        </Button>
        <Menu label="More">
          <Button onClick={() => leadTo('new')}>Edit and send</Button>
          {operation !== undefined && <Button onClick={() => leadTo('rule')}>Make a rule</Button>}
          <Button onClick={() => refine({ with: String(number) })}>Pin to compare</Button>
          {COPIES.map(([name, formatValue]) => (
            <CopyButton
              key={name}
              label={`Copy as ${name}`}
              text={() => formatValue(copyRequest(exchange))}
              isOff={whyNot !== undefined}
            />
          ))}
          <CopyButton
            label="Copy link"
            text={() => new URL(formatHref('exchanges', String(number)), location.href).href}
          />
        </Menu>
      </div>
      {whyNot !== undefined && <p class="quiet">{whyNot}</p>}
    </>
  );
}

function formatComparison(of: RecordedExchange, from: RecordedExchange): string {
  const facets = Object.entries<(it: RecordedExchange) => unknown>({
    'request line': ({ method, target }) => `${method} ${target}`,
    'request body': ({ request }) => formatBody(request.body),
    key: ({ key }) => key,
    status: ({ status, fault }) => status ?? fault,
    'reply body': ({ reply }) => formatBody(reply.body),
  });
  const names = facets.flatMap(([name, facet]) => (facet(of) === facet(from) ? [] : [name]));
  return names.length === 0
    ? `Same request and same reply as exchange ${from.number}.`
    : `Differs from exchange ${from.number} in: ${names.join(', ')}.`;
}

function Why({ exchange }: { readonly exchange: RecordedExchange }) {
  const { by, basis, findings, operation, key } = exchange;
  const mocks = formatMockAnswer(exchange);
  return (
    <>
      <h3>Why</h3>
      <ul>
        {sortReasons(exchange).map((reason) => (
          <li key={reason}>{visible(reason)}</li>
        ))}
        {exchange.status === 401 && <AcceptedKeys />}
        {mocks !== undefined && <li>The mock {visible(mocks)}</li>}
        <li class="quiet">
          {operation === undefined ? 'No operation' : `Operation ${operation}`}
          {key === undefined ? ', no API key' : `, API key ${visible(key)}`}
        </li>
      </ul>
      <p class="bar">
        {basis === 'assumed' &&
          by.map((choice) => (
            <a key={choice} href={formatHref('assumptions', choice.split('=', 1)[0])}>
              Assumption {choice}
            </a>
          ))}
        {basis === 'forced' && (
          <a href={formatHref('scenarios')}>Forced by {visible(by.join(', '))}</a>
        )}
      </p>
      {findings.length > 0 && (
        <>
          <h3>Findings</h3>
          <ul>
            {findings.map(({ code, message, advice }) => (
              <li key={code}>
                <b>{code}</b>: <Prose text={visible(message)} /> {advice}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function AcceptedKeys() {
  const status = useResource('status', (signal) => client.call('GET /status', { signal }));
  return <li>This sandbox takes {status.value?.keys.join(', ') || 'no key'}.</li>;
}

function formatMockAnswer({ basis, expected }: RecordedExchange): string | undefined {
  if (basis !== 'upstream') return undefined;
  if (expected === undefined) return 'cannot know what it would have answered';
  const { status, by, why } = expected;
  const because = [...by.map((choice) => `assumption ${choice}`), ...(why ? [why] : [])];
  return `would have answered ${[status, ...because].join(': ')}`;
}
