import { useEffect, useRef } from 'preact/hooks';
import type { RecordedExchange } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { Form } from '../parts/form.tsx';
import { Loading } from '../parts/loading.tsx';
import { go, place } from '../state/place.ts';
import { FIRST_REQUEST, type Request, requestOf, sendAndOpen } from '../state/requests.ts';
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
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const close = () => go('exchanges', from > 0 ? String(from) : undefined);
  return (
    <section class="panel" aria-labelledby="request-title">
      <div class="bar">
        <h2 id="request-title" ref={heading} tabIndex={-1}>
          {from > 0 ? `Edit and send exchange ${from}` : 'New request'}
        </h2>
        <button type="button" class="far" onClick={close}>
          Cancel
        </button>
      </div>
      {loaded.value === undefined ? (
        <Loading resource={loaded} />
      ) : (
        <Fields {...loaded.value} onSend={(request) => sendAndOpen(request, from || undefined)} />
      )}
    </section>
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
  const send = (texts: ReadonlyMap<string, string>) => {
    const text = (name: string) => texts.get(name) ?? '';
    const lines = text('headers')
      .split('\n')
      .filter((line) => line.trim() !== '');
    onSend({
      method: text('method'),
      target: text('target'),
      key: text('key').trim(),
      headers: lines.map((line) => {
        const [, name = line, value = ''] = /^([^:]*):\s*(.*)$/.exec(line) ?? [];
        return [name.trim(), value];
      }),
      body: text('body') === '' ? undefined : text('body'),
    });
  };
  const isLost = start !== undefined && key === '';
  return (
    <Form class="form" onSubmit={send}>
      <label class="field">
        Method
        <select name="method" defaultValue={method}>
          {METHODS.map((name) => (
            <option key={name} selected={name === method}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Path
        <input
          name="target"
          class="mono"
          required
          pattern="/.*"
          title="A path that starts with /"
          defaultValue={target}
        />
      </label>
      <label class="field">
        API key
        <input name="key" class="mono" autocomplete="off" defaultValue={key} />
        {isLost && <span>The journal keeps only the start of a key: {start}</span>}
      </label>
      <label class="field">
        Other headers, one a line
        <textarea
          name="headers"
          rows={Math.min(8, headers.length + 1)}
          defaultValue={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        />
      </label>
      <label class="field">
        Body
        <textarea name="body" rows={8} defaultValue={body} />
      </label>
      <button type="submit">Send</button>
    </Form>
  );
}
