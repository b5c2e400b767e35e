import { Button, Menu } from '../parts/buttons.tsx';
import { MAX_BODY_CHARACTERS, Sides, Snippet } from '../parts/message.tsx';
import { Fold, Panel } from '../parts/panel.tsx';
import { ReleaseButton } from '../parts/strips.tsx';
import { formatDuration, LineDifference, Prose, shorten, visible } from '../parts/texts.tsx';
import { type Direction, isHeldBack } from '../state/journal.ts';
import {
  copyRequest,
  formatBody,
  sendAgain,
  shortTarget,
  whyNotCopied,
} from '../state/requests.ts';
import { useResource } from '../state/resource.ts';
import { capitalize, formatHref, go, refine, route, withQuery } from '../state/route.ts';
import { client, type ListedExchange } from '../state/session.ts';
import { status as sandboxStatus } from '../state/settings.ts';
import { BasisBadge, formatMoment, StatusBadge, sortReasons } from './exchange-rows.tsx';
import { ChangedRecords, ReplySide } from './time-travel.tsx';

interface DetailProps {
  readonly known: ListedExchange | undefined;
  readonly onStep: (towards: Direction) => void;
}

export function ExchangeDetail({ known, onStep }: DetailProps) {
  const { item, query } = route.value;
  const number = Number(item);
  const pinned = Number(query.get('with') ?? query.get('pin'));
  const exchange = useExchange(number, known);
  const other = useExchange(pinned === number ? 0 : pinned);
  const steps = (
    <span class="actions">
      <Button label="Newer" onClick={() => onStep('newer')} />
      <Button label="Older" onClick={() => onStep('older')} />
    </span>
  );
  return (
    <Panel title={`Exchange ${number}`} beside={steps} onClose={close} of={exchange}>
      {(shown) => <Content key={number} exchange={shown} other={other.value} />}
    </Panel>
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
  go('exchanges', undefined, withQuery({ with: '', pin: '' }));
  // When the row is there again, and before the list can take the page for one without a reader.
  queueMicrotask(() => {
    const row = document.querySelector<HTMLElement>(`a[aria-label="Exchange ${Number(item)}"]`);
    (row ?? document.querySelector<HTMLElement>('h1'))?.focus();
  });
}

interface ContentProps {
  readonly exchange: ListedExchange;
  readonly other: ListedExchange | undefined;
}

function Content({ exchange, other }: ContentProps) {
  const { number, method, target, at, clockMoved, delay, duration, replays } = exchange;
  const [reason = ''] = sortReasons(exchange);
  return (
    <>
      <p class="headline">
        <span class={`m-${method.toLowerCase()}`}>{visible(method)}</span>{' '}
        {shorten(visible(shortTarget(target)))} → <StatusBadge {...exchange} />
      </p>
      <p class="bar">
        <BasisBadge {...exchange} />
        {!reason.startsWith('assumption ') && <span>{visible(reason)}</span>}
        {isHeldBack(exchange) && <ReleaseButton exchange={number} />}
        <span class="quiet">
          {formatMoment(at, clockMoved)},{' '}
          {isHeldBack(exchange) ? 'waits' : formatDuration(duration)}
          {delay > 0 && `, ${delay} ms of it delay`}
        </span>
        {replays !== undefined && (
          <Button
            label={`Compare with exchange ${replays}`}
            onClick={() => refine({ with: replays })}
          />
        )}
      </p>
      <Actions exchange={exchange} />
      {other !== undefined && <Comparison exchange={exchange} other={other} />}
      <div class="whole">
        <Sides of={exchange}>
          <ReplySide of={exchange} />
        </Sides>
        <div>
          <Why exchange={exchange} />
          <ChangedRecords of={exchange} />
        </div>
      </div>
    </>
  );
}

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
          <Button label="Pin to compare" onClick={() => refine({ pin: number })} />
        </Menu>
      </div>
      {whyNot === undefined ? (
        <Fold title="As code">{() => <Snippet of={copyRequest(exchange)} />}</Fold>
      ) : (
        <p class="quiet">{whyNot}</p>
      )}
    </>
  );
}

function Comparison({ exchange, other }: Record<'exchange' | 'other', ListedExchange>) {
  const [before, after] = [writeExchange(other), writeExchange(exchange)];
  return (
    <section aria-label="Comparison" class="card">
      <p class="bar">
        <b>
          {before === after ? 'Same request and same reply as' : 'Differs from'} exchange{' '}
          {other.number}.
        </b>
        <Button class="far" label="Unpin" onClick={() => refine({ with: '', pin: '' })} />
      </p>
      <LineDifference before={before} after={after} />
    </section>
  );
}

function writeExchange({ method, target, key = 'none', ...of }: ListedExchange): string {
  const [sent, got] = [of.request, of.reply].map(({ body }) =>
    body === undefined ? '' : formatBody(body, 2),
  );
  const lines = [`${method} ${target}`, sent, `API key: ${key}`, `→ ${of.status ?? of.fault}`, got];
  return visible(lines.filter(Boolean).join('\n')).slice(0, MAX_BODY_CHARACTERS);
}

function Why({ exchange }: { exchange: ListedExchange }) {
  const { findings, operation = 'none', key = 'none', status, patched, offContract } = exchange;
  const { keys = [] } = sandboxStatus.value ?? {};
  const mocks = formatMockAnswer(exchange);
  const [first = '', ...rest] = sortReasons(exchange);
  // The head says the first one, unless it is a link.
  const others = first.startsWith('assumption ') ? [first, ...rest] : rest;
  const why = [
    ...others,
    status === 401 && `This sandbox takes ${keys.join(', ') || 'no key'}.`,
    mocks !== undefined && `The mock ${mocks}`,
    `Operation: ${operation}; API key: ${key}`,
  ].filter((text) => text !== false);
  const lists = [
    ['Why', why],
    [`Not by the document${offContract?.declared ? ', as declared' : ''}`, offContract?.problems],
    ['Changed by the rule', patched],
    ['Findings', findings.map(({ code, message, advice }) => `${code}: ${message} ${advice}`)],
  ] as const;
  return lists.map(
    ([title, items = []]) =>
      items.length > 0 && (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <ul>
            {items.map((item) => (
              <li key={item}>
                <Reason text={item} />
              </li>
            ))}
          </ul>
        </section>
      ),
  );
}

/** A reason leads to the assumption or the scenario that it names. */
function Reason({ text }: { text: string }) {
  const [, kind, name] = /^(assumption|scenario) ([^\s=,]+)/.exec(text) ?? [];
  if (kind === undefined) return <Prose text={visible(text)} />;
  return (
    <a href={formatHref(`${kind}s`, kind === 'assumption' ? name : undefined)}>
      {capitalize(visible(text))}
    </a>
  );
}

function formatMockAnswer({ basis, expected }: ListedExchange): string | undefined {
  if (basis !== 'upstream') return undefined;
  if (expected === undefined) return 'cannot know what it would have answered';
  const { status, by, why } = expected;
  const reasons = [...by.map((choice) => `assumption ${choice}`), ...(why ? [why] : [])];
  return `would have answered ${[status, ...reasons].join(': ')}`;
}
