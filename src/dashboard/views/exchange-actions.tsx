import type { RecordedExchange } from '../../control/control-shapes.ts';
import { Button, CopyButton } from '../parts/buttons.tsx';
import { go, hrefOf, place, refine } from '../state/place.ts';
import {
  curlOf,
  fetchOf,
  httpieOf,
  requestOf,
  sendAndOpen,
  whyNotAgain,
} from '../state/requests.ts';

const COPIES = [
  ['curl', curlOf],
  ['fetch', fetchOf],
  ['HTTPie', httpieOf],
] as const;

/** What can be done with an exchange. */
export function ExchangeActions({ exchange }: { readonly exchange: RecordedExchange }) {
  const { number, key, operation } = exchange;
  const whyNot = whyNotAgain(exchange);
  const request = requestOf(exchange);
  const edit = () => go('exchanges', 'new', withMember('from', number));
  // Without its key, the request would get another reply.
  const isKeyLost = key !== undefined && request.key === '';
  const placed = () => requestOf(exchange, (start) => `KEY_THAT_STARTS_WITH_${start}`);
  return (
    <>
      <div class="bar">
        <Button
          class="main"
          disabled={whyNot !== undefined}
          onClick={() => (isKeyLost ? edit() : sendAndOpen(request, number))}
        >
          Send again
        </Button>
        <Button onClick={edit}>Edit and send</Button>
        {operation !== undefined && (
          <Button onClick={() => go('exchanges', 'rule', withMember('from', number))}>
            Make a rule
          </Button>
        )}
        <Button onClick={() => refine({ with: String(number) })}>Pin to compare</Button>
      </div>
      <div class="bar">
        {COPIES.map(([name, textOf]) => (
          <CopyButton
            key={name}
            label={`Copy as ${name}`}
            text={() => textOf(placed())}
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

function withMember(name: string, value: number): URLSearchParams {
  const query = new URLSearchParams(place.value.query);
  query.set(name, String(value));
  return query;
}
