import { Button, copy, download, Menu } from '../parts/buttons.tsx';
import { Panel } from '../parts/panel.tsx';
import { ReleaseButton } from '../parts/strips.tsx';
import { formatDuration, formatTime, Marked, Prose, visible } from '../parts/texts.tsx';
import type { Direction } from '../state/journal.ts';
import {
  copyRequest,
  formatBody,
  formatCurlCommand,
  formatFetch,
  sendAgain,
  whyNotCopied,
} from '../state/requests.ts';
import { useResource } from '../state/resource.ts';
import { capitalize, formatHref, go, refine, route, withQuery } from '../state/route.ts';
import { client, type ListedExchange } from '../state/session.ts';
import { BasisBadge, isHeldBack, StatusBadge, sortReasons } from './exchange-rows.tsx';
import { Alternatives, ChangesTable } from './time-travel.tsx';

interface DetailProps {
  readonly number: number;
  readonly known: ListedExchange | undefined;
  /** The number of the exchange to compare with; NaN or 0 for none. */
  readonly pinned: number;
  readonly onStep: (towards: Direction) => void;
}

export function ExchangeDetail({ number, known, pinned, onStep }: DetailProps) {
  const exchange = useExchange(number, known);
  const other = useExchange(pinned);
  const steps = (
    <span class="actions">
      <Button label="Newer" onClick={() => onStep('newer')} />
      <Button label="Older" onClick={() => onStep('older')} />
    </span>
  );
  return (
    <>
      <Panel title={`Exchange ${number}`} beside={steps} onClose={close} of={exchange}>
        {(shown) => <Content key={number} exchange={shown} other={other.value} />}
      </Panel>
      {pinned > 0 && (
        <Panel
          isQuiet
          title={`Pinned: exchange ${pinned}`}
          close="Unpin"
          onClose={() => refine({ with: '' })}
          of={other}
        >
          {(shown) => <Content key={pinned} exchange={shown} other={exchange.value} isPinned />}
        </Panel>
      )}
    </>
  );
}

function useExchange(number: number, known?: ListedExchange) {
  const loaded = useResource(`${number}`, async (signal) =>
    number > 0
      ? (known ?? client.call('GET /requests/{number}', { path: { number }, signal }))
      : undefined,
  );
  const value = known ?? loaded.value;
  return { ...loaded, value: value?.number === number ? value : undefined };
}

function close(): void {
  const { item = '' } = route.value;
  go('exchanges', undefined, withQuery({ with: '' }));
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`a[aria-label="Exchange ${Number(item)}"]`);
    (row ?? document.querySelector<HTMLElement>('h1'))?.focus();
  });
}

interface ContentProps {
  readonly exchange: ListedExchange;
  readonly other: ListedExchange | undefined;
  readonly isPinned?: boolean;
}

function Content({ exchange, other, isPinned = false }: ContentProps) {
  const { number, method, target, at, delay, duration, replays, request, reply } = exchange;
  return (
    <>
      <p class="bar">
        <StatusBadge {...exchange} /> <BasisBadge {...exchange} />{' '}
        <b>{visible(sortReasons(exchange)[0] ?? '')}</b>{' '}
        {isHeldBack(exchange) && <ReleaseButton exchange={number} />}
      </p>
      <p class="quiet">
        {formatTime(at)} UTC, {isHeldBack(exchange) ? 'waits' : formatDuration(duration)}
        {delay > 0 && `, ${delay} ms of it delay`}
        {replays !== undefined && (
          <>
            , replays <a href={formatHref('exchanges', replays)}>exchange {replays}</a>
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
          <Message of={request} name={`request ${number}`} other={other?.request.body} />
        </div>
        <div>
          <h3>Reply</h3>
          <Message of={reply} name={`reply ${number}`} other={other?.reply.body} />
        </div>
      </div>
      <Why exchange={exchange} />
      {!isPinned && exchange.operation !== undefined && <Alternatives of={exchange} />}
      {!isPinned && <ChangesTable number={number} />}
    </>
  );
}

/** Characters that are shown: browsers stall on megabytes. */
const MAX_BODY_CHARACTERS = 100_000;

interface MessageProps {
  readonly of: ListedExchange['request'];
  readonly name: string;
  readonly other?: unknown;
}

function Message({ of: { headers, body, size = 0, cut }, name, other }: MessageProps) {
  const text = body === undefined ? '' : formatBody(body, 2);
  const lines = Object.entries(headers).map((header) => header.join(': '));
  const isLong = text.length > MAX_BODY_CHARACTERS;
  const shown = visible(text.slice(0, MAX_BODY_CHARACTERS));
  const bytes = `${size.toLocaleString('en')} bytes`;
  const nothing = cut
    ? `The journal does not keep this body of ${bytes}: it is too long.`
    : 'No body.';
  return (
    <>
      <details>
        <summary>Headers</summary>
        <pre>{visible(lines.join('\n'))}</pre>
      </details>
      <p class="quiet">{body === undefined ? nothing : `Body, ${bytes}`}</p>
      {body !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus
        <section class="body" tabIndex={0} aria-label={`Body of ${name}`}>
          <pre>
            {other === undefined ? (
              shown
            ) : (
              <Marked text={shown} other={visible(formatBody(other, 2))} />
            )}
          </pre>
        </section>
      )}
      {isLong && (
        <p class="bar">
          These are the first {MAX_BODY_CHARACTERS.toLocaleString('en')} of{' '}
          {text.length.toLocaleString('en')} characters.{' '}
          <Button label="Download" onClick={() => download(`${name}.txt`, text)} />
        </p>
      )}
    </>
  );
}

const COPIES = { curl: formatCurlCommand, fetch: formatFetch };

function Actions({ exchange }: { readonly exchange: ListedExchange }) {
  const { number, operation, request } = exchange;
  const whyNot = whyNotCopied(exchange);
  const leadTo = (form: string) => go('exchanges', form, withQuery({ from: number }));
  return (
    <>
      <div class="bar">
        <Button
          class="main"
          label="Send again"
          disabled={request.cut}
          onClick={() => sendAgain(exchange)}
        />
        <Menu label="More">
          <Button label="Edit and send" onClick={() => leadTo('new')} />
          {operation && <Button label="Make a rule" onClick={() => leadTo('rule')} />}
          <Button label="Pin to compare" onClick={() => refine({ with: number })} />
          {Object.entries(COPIES).map(([name, format]) => (
            <Button
              key={name}
              label={`Copy as ${name}`}
              disabled={whyNot !== undefined}
              onClick={() => copy(format(copyRequest(exchange)))}
            />
          ))}
          <Button
            label="Copy link"
            onClick={() => copy(new URL(formatHref('exchanges', number), location.href).href)}
          />
        </Menu>
      </div>
      {whyNot !== undefined && <p class="quiet">{whyNot}</p>}
    </>
  );
}

const FACETS: Readonly<Record<string, (exchange: ListedExchange) => unknown>> = {
  'request line': ({ method, target }) => `${method} ${target}`,
  'request body': ({ request }) => formatBody(request.body),
  key: ({ key }) => key,
  status: ({ status, fault }) => status ?? fault,
  'reply body': ({ reply }) => formatBody(reply.body),
};

function formatComparison(of: ListedExchange, from: ListedExchange): string {
  const names = Object.entries(FACETS).flatMap(([name, read]) =>
    read(of) === read(from) ? [] : [name],
  );
  return names.length === 0
    ? `Same request and same reply as exchange ${from.number}.`
    : `Differs from exchange ${from.number} in: ${names.join(', ')}.`;
}

function Why({ exchange }: { exchange: ListedExchange }) {
  const { findings, operation = 'none', key = 'none', status } = exchange;
  const mocks = formatMockAnswer(exchange);
  return (
    <>
      <h3>Why</h3>
      <ul>
        {sortReasons(exchange).map((reason) => (
          <li key={reason}>
            <Reason text={reason} />
          </li>
        ))}
        {status === 401 && <AcceptedKeys />}
        {mocks !== undefined && <li>The mock {visible(mocks)}</li>}
        <li class="quiet">
          Operation: {operation}; API key: {visible(key)}
        </li>
      </ul>
      {findings.length > 0 && <h3>Findings</h3>}
      <ul>
        {findings.map(({ code, message, advice }) => (
          <li key={code}>
            <b>{code}</b>: <Prose text={visible(message)} /> {advice}
          </li>
        ))}
      </ul>
    </>
  );
}

/** A reason leads to the assumption or the scenario that it names. */
function Reason({ text }: { text: string }) {
  const [, kind, name] = /^(assumption|scenario) ([^\s=,]+)/.exec(text) ?? [];
  if (kind === undefined) return visible(text);
  return (
    <a href={formatHref(`${kind}s`, kind === 'assumption' ? name : undefined)}>
      {capitalize(visible(text))}
    </a>
  );
}

function AcceptedKeys() {
  const status = useResource('status', (signal) => client.call('GET /status', { signal }));
  return <li>This sandbox takes {status.value?.keys.join(', ') || 'no key'}.</li>;
}

function formatMockAnswer({ basis, expected }: ListedExchange): string | undefined {
  if (basis !== 'upstream') return undefined;
  if (expected === undefined) return 'cannot know what it would have answered';
  const { status, by, why } = expected;
  const reasons = [...by.map((choice) => `assumption ${choice}`), ...(why ? [why] : [])];
  return `would have answered ${[status, ...reasons].join(': ')}`;
}
