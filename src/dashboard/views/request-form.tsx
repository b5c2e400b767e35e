import type { RecordedExchange } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { Field, Form, type Texts } from '../parts/form.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Panel } from '../parts/panel.tsx';
import { go, place } from '../state/place.ts';
import {
  FIRST_REQUEST,
  headersIn,
  type Request,
  requestOf,
  sendAndOpen,
} from '../state/requests.ts';
import { useLoaded } from '../state/resource.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'];

/** Writes a request anew, or edits that of an exchange. */
export function RequestForm() {
  const from = Number(place.value.query.get('from'));
  const loaded = useLoaded(`${from}`, async (signal) => {
    if (!(from > 0)) return { request: FIRST_REQUEST };
    const exchange = await call<RecordedExchange>('GET', `/requests/${from}`, { signal });
    return { request: requestOf(exchange), start: exchange.key };
  });
  const title = from > 0 ? `Edit and send exchange ${from}` : 'New request';
  const leave = () => go('exchanges', from > 0 ? String(from) : undefined);
  return (
    <Panel title={title} close="Cancel" onClose={leave}>
      <Loaded of={loaded}>
        {(it) => <Fields {...it} onSend={(request) => sendAndOpen(request, from || undefined)} />}
      </Loaded>
    </Panel>
  );
}

interface FieldsProps {
  readonly request: Request;
  /** The start of a key that the journal does not have in full. */
  readonly start?: string | undefined;
  readonly onSend: (request: Request) => void;
}

function Fields({ request, start, onSend }: FieldsProps) {
  const { method, target, key, headers, body = '' } = request;
  const send = (texts: Texts) => {
    const text = (name: string) => texts.get(name) ?? '';
    onSend({
      method: text('method'),
      target: text('target'),
      key: text('key').trim(),
      headers: headersIn(text('headers')),
      body: text('body') === '' ? undefined : text('body'),
    });
  };
  const isLost = start !== undefined && key === '';
  return (
    <Form class="form" onSubmit={send}>
      <Field name="method" label="Method" value={method} options={METHODS} />
      <Field name="target" label="Path" value={target} pattern="/.*" required />
      <Field name="key" label="API key" value={key} />
      {isLost && <p class="quiet">The journal keeps only the start of a key: {start}</p>}
      <Field
        name="headers"
        label="Other headers, one a line"
        rows={Math.min(8, headers.length + 1)}
        value={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
      />
      <Field name="body" label="Body" rows={8} value={body} />
      <button type="submit">Send</button>
    </Form>
  );
}
