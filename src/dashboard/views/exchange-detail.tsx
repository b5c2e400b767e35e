import type { RecordedExchange, RecordedMessage } from '../../control/control-shapes.ts';
import { Button, CopyButton, save } from '../parts/buttons.tsx';
import { Panel } from '../parts/panel.tsx';
import { Await, milliseconds, Prose, timeText, visible } from '../parts/texts.tsx';
import { go, hrefOf, place, refine } from '../state/place.ts';
import {
  curlOf,
  fetchOf,
  httpieOf,
  isKeyLost,
  requestOf,
  sendAndOpen,
  textOfBody,
  whyNotAgain,
} from '../state/requests.ts';
import { useLoader } from '../state/resource.ts';
import { call } from '../state/session.ts';
import { BasisBadge, ReleaseButton, StatusBadge } from './exchange-rows.tsx';

interface DetailProps {
  readonly number: number;
  /** The exchange, if the list has it. */
  readonly known: RecordedExchange | undefined;
  /** The number of the exchange to compare with; NaN or 0 for none. */
  readonly pinned: number;
  readonly onStep: (towards: 'older' | 'newer') => void;
}

/** One exchange, beside another if one is pinned: what was asked, what was answered, and why. */
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
          {(it) => <Content key={number} exchange={it} other={other.value} />}
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
            {(it) => <Content key={pinned} exchange={it} other={exchange.value} isPinned />}
          </Await>
        </Panel>
      )}
    </>
  );
}

function useExchange(number: number, known?: RecordedExchange) {
  const loaded = useLoader(`${number}`, async (signal) =>
    number > 0
      ? (known ?? call<RecordedExchange>('GET', `/requests/${number}`, { signal }))
      : undefined,
  );
  const value = known ?? loaded.value;
  return { ...loaded, value: value?.number === number ? value : undefined };
}

/** Closes the exchange and returns to its row. */
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
  /** The one beside it, if there is one: what differs is marked. */
  readonly other: RecordedExchange | undefined;
  readonly isPinned?: boolean;
}

function Content({ exchange, other, isPinned = false }: ContentProps) {
  const { number, method, target, operation, key, at, delay, duration, request, reply } = exchange;
  return (
    <>
      <p class="mono">
        <b>{visible(method)}</b> <bdi>{visible(target)}</bdi>
      </p>
      <p class="bar">
        <StatusBadge {...exchange} /> <BasisBadge {...exchange} />
        <span class="quiet">{milliseconds(duration)}</span>
        <ReleaseButton of={exchange} />
      </p>
      {other !== undefined && !isPinned && <b>{comparisonText(exchange, other)}</b>}
      <Why exchange={exchange} />
      {!isPinned && <Actions exchange={exchange} />}
      <h3>Reply body</h3>
      <BodyText of={reply} name={`reply-${number}`} other={other?.reply.body} />
      <h3>Request body</h3>
      <BodyText of={request} name={`request-${number}`} other={other?.request.body} />
      <Pairs
        of={[
          ['Time', `${timeText(at)} UTC`],
          ['Operation', operation],
          ['API key', key],
          ['The mock', mocksAnswer(exchange)],
          ['Duration', milliseconds(duration) + (delay > 0 ? `, ${delay} ms of it delay` : '')],
        ]}
      />
      <details>
        <summary>Headers</summary>
        <h3>Reply headers</h3>
        <Pairs of={Object.entries(reply.headers)} />
        <h3>Request headers</h3>
        <Pairs of={Object.entries(request.headers)} />
      </details>
    </>
  );
}

const COPIES = [
  ['curl', curlOf],
  ['fetch', fetchOf],
  ['HTTPie', httpieOf],
] as const;

/** What can be done with an exchange. */
function Actions({ exchange }: { readonly exchange: RecordedExchange }) {
  const { number, operation } = exchange;
  const whyNot = whyNotAgain(exchange);
  const request = requestOf(exchange);
  const leadTo = (form: string) => {
    const query = new URLSearchParams(place.value.query);
    query.set('from', String(number));
    go('exchanges', form, query);
  };
  const edit = () => leadTo('new');
  return (
    <>
      <div class="bar">
        <Button
          class="main"
          disabled={whyNot !== undefined}
          onClick={() => (isKeyLost(request) ? edit() : sendAndOpen(request, number))}
        >
          Send again
        </Button>
        <Button onClick={edit}>Edit and send</Button>
        {operation !== undefined && <Button onClick={() => leadTo('rule')}>Make a rule</Button>}
        <Button onClick={() => refine({ with: String(number) })}>Pin to compare</Button>
      </div>
      <div class="bar">
        {COPIES.map(([name, textOf]) => (
          <CopyButton
            key={name}
            label={`Copy as ${name}`}
            text={() => textOf(request)}
            isOff={whyNot !== undefined}
          />
        ))}
        <CopyButton
          label="Copy link"
          text={() => new URL(hrefOf('exchanges', String(number)), location.href).href}
        />
      </div>
      {whyNot !== undefined && <p class="quiet">{whyNot}</p>}
    </>
  );
}

/** What two exchanges do not have in common, in a sentence. */
function comparisonText(of: RecordedExchange, from: RecordedExchange): string {
  const facets = Object.entries<(it: RecordedExchange) => unknown>({
    'request line': ({ method, target }) => `${method} ${target}`,
    'request body': ({ request }) => textOfBody(request.body),
    key: ({ key }) => key,
    status: ({ status, fault }) => status ?? fault,
    'reply body': ({ reply }) => textOfBody(reply.body),
  });
  const names = facets.flatMap(([name, facet]) => (facet(of) === facet(from) ? [] : [name]));
  return names.length === 0
    ? `Same request and same reply as exchange ${from.number}.`
    : `Differs from exchange ${from.number} in: ${names.join(', ')}.`;
}

function Why({ exchange: { why, by, basis, findings } }: { readonly exchange: RecordedExchange }) {
  return (
    <>
      <h3>Why</h3>
      <ul>
        {why.map((reason) => (
          <li key={reason}>{visible(reason)}</li>
        ))}
      </ul>
      <p class="bar">
        {basis === 'assumed' &&
          by.map((choice) => (
            <a key={choice} href={hrefOf('assumptions', choice.split('=', 1)[0])}>
              Assumption {choice}
            </a>
          ))}
        {basis === 'forced' && <a href={hrefOf('scenarios')}>Forced by {visible(by.join(', '))}</a>}
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

/** Names with their values, without those that have none. */
function Pairs({ of }: { readonly of: readonly (readonly (string | undefined)[])[] }) {
  return (
    <dl>
      {of.map(
        ([name = '', value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{visible(name)}</dt>
              <dd class="mono">
                <bdi>{visible(value)}</bdi>
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** What the mock would have answered in place of a deployment. */
function mocksAnswer({ basis, expected }: RecordedExchange): string | undefined {
  if (basis !== 'upstream') return undefined;
  if (expected === undefined) return 'cannot know what it would have answered';
  const { status, by, why } = expected;
  const because = [...by.map((choice) => `assumption ${choice}`), ...(why ? [why] : [])];
  return `would have answered ${[status, ...because].join(': ')}`;
}

/** Characters that are shown: browsers stall on megabytes. */
const SHOWN = 20_000;

interface BodyProps {
  readonly of: RecordedMessage;
  /** Names the file that a long body is saved as. */
  readonly name: string;
  /** The body to compare with. */
  readonly other?: unknown;
}

/** A body as text: JSON is indented, everything else stays as it is. */
function BodyText({ of: { body, cut }, name, other }: BodyProps) {
  if (body === undefined) {
    return <p class="quiet">{cut ? 'The journal does not keep a long body.' : 'No body.'}</p>;
  }
  const text = textOfBody(body, 2);
  const isCut = text.length > SHOWN;
  const shown = visible(isCut ? text.slice(0, SHOWN) : text);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus */}
      <section class="body" tabIndex={0} aria-label={`Body of ${name}`}>
        <pre>{other === undefined ? shown : highlight(shown, visible(textOfBody(other, 2)))}</pre>
      </section>
      {cut && <p class="quiet">The journal keeps only the start of a long body.</p>}
      {isCut && (
        <p class="bar">
          These are the first {SHOWN.toLocaleString('en')} of {text.length.toLocaleString('en')}{' '}
          characters. <Button onClick={() => save(`${name}.txt`, text)}>Download</Button>
        </p>
      )}
    </>
  );
}

/** A text in which the lines that another does not have are marked. */
function highlight(text: string, other: string) {
  const lines = new Set(other.split('\n'));
  return text
    .split('\n')
    .map((line, at) => (lines.has(line) ? `${line}\n` : [<mark key={at}>{line}</mark>, '\n']));
}
