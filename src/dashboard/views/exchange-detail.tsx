import { useEffect, useRef } from 'preact/hooks';
import type { RecordedExchange, RecordedMessage } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { BasisBadge, StatusBadge } from '../parts/badge.tsx';
import { BodyText } from '../parts/body-text.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { curlOf, whyNoCurl } from '../parts/curl-of.ts';
import { Loading } from '../parts/loading.tsx';
import { Prose } from '../parts/prose.tsx';
import { ruleOf } from '../parts/rule-of.ts';
import { milliseconds, visible } from '../parts/visible-text.ts';
import { editDraft } from '../state/draft.ts';
import { go, hrefOf, place } from '../state/place.ts';
import { useLoaded } from '../state/resource.ts';
import { sandbox } from '../state/session.ts';

interface Opened {
  readonly number: number;
  /** The exchange, if the list has it. */
  readonly known: RecordedExchange | undefined;
}

/** One exchange: what was asked, what was answered, and why. */
export function ExchangeDetail({ number, known }: Opened) {
  const loaded = useLoaded(
    String(number),
    async (signal) => known ?? call<RecordedExchange>('GET', `/requests/${number}`, { signal }),
  );
  const exchange = known ?? loaded.value;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <article
      class="detail"
      aria-labelledby="detail-title"
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      <div class="bar">
        <h2 id="detail-title" ref={heading} tabIndex={-1}>
          Exchange {number}
        </h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {exchange === undefined ? <Loading resource={loaded} /> : <Content exchange={exchange} />}
    </article>
  );
}

/** Closes the exchange and returns to its row. */
function close(): void {
  const { item = '', query } = place.value;
  go('exchanges', undefined, query);
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`a[aria-label="Exchange ${Number(item)}"]`);
    (row ?? document.querySelector<HTMLElement>('h1'))?.focus();
  });
}

function Content({ exchange }: { readonly exchange: RecordedExchange }) {
  const { method, target, status, fault, basis, request, reply, operation } = exchange;
  return (
    <>
      <p class="target">
        <b>{visible(method)}</b> <bdi>{visible(target)}</bdi>
      </p>
      <p>
        <StatusBadge status={status} fault={fault} /> <BasisBadge basis={basis} />
      </p>
      <Why exchange={exchange} />
      <Facts exchange={exchange} />
      <FindingsOf exchange={exchange} />
      <div class="bar">
        <CopyButton
          label="Copy as curl"
          text={() => curlOf(exchange)}
          whyNot={whyNoCurl(exchange)}
        />
        {operation !== undefined && (
          <button type="button" onClick={() => editDraft(ruleOf(exchange, operation))}>
            Make a rule of this
          </button>
        )}
      </div>
      <h3>Request</h3>
      <Message of={request} name={`request-${exchange.number}`} />
      <h3>Reply</h3>
      <Message of={reply} name={`reply-${exchange.number}`} />
    </>
  );
}

function Why({ exchange: { why, by, basis } }: { readonly exchange: RecordedExchange }) {
  return (
    <>
      <h3>Why</h3>
      <ul>
        {why.map((reason) => (
          <li key={reason}>{visible(reason)}</li>
        ))}
      </ul>
      {basis === 'assumed' && (
        <p>
          {by.map((choice) => (
            <a key={choice} href={hrefOf('assumptions', choice.split('=', 1)[0])}>
              Assumption {choice}
            </a>
          ))}
        </p>
      )}
      {basis === 'forced' && (
        <p>
          <a href={hrefOf('scenarios')}>Forced by {visible(by.join(', '))}</a>
        </p>
      )}
    </>
  );
}

function Facts({ exchange }: { readonly exchange: RecordedExchange }) {
  const { at, operation, key, delay, duration } = exchange;
  const facts = [
    ['Time', at],
    ['Operation', operation],
    ['API key', key],
    ['Sandbox', sandbox],
    ['The mock', mocksAnswer(exchange)],
    ['Duration', `${milliseconds(duration)}${delay > 0 ? `, including ${delay} ms of delay` : ''}`],
  ];
  return <Pairs of={facts} />;
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
              <dd>
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

function FindingsOf({ exchange: { findings } }: { readonly exchange: RecordedExchange }) {
  if (findings.length === 0) return null;
  return (
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
  );
}

interface MessageProps {
  readonly of: RecordedMessage;
  /** Names the file that a long body is saved as. */
  readonly name: string;
}

function Message({ of: { headers, body, cut }, name }: MessageProps) {
  return (
    <>
      <Pairs of={Object.entries(headers)} />
      {body !== undefined && <BodyText value={body} name={name} />}
      <p class="quiet">
        {cut && 'The journal keeps only the start of a long body.'}
        {!cut && body === undefined && 'No body.'}
      </p>
    </>
  );
}
