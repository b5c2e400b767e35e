import { Field, Form, type Texts } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { Await } from '../parts/texts.tsx';
import { go, place } from '../state/place.ts';
import { copyRequest, FIRST_REQUEST, parseHeaderLines, sendAndOpen } from '../state/requests.ts';
import { useResource } from '../state/resource.ts';
import { client } from '../state/session.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'];

export function RequestForm() {
  const from = Number(place.value.query.get('from'));
  const loaded = useResource(`${from}`, async (signal) => {
    if (!(from > 0)) return FIRST_REQUEST;
    const path = { number: from };
    return copyRequest(await client.call('GET /requests/{number}', { path, signal }));
  });
  const title = from > 0 ? `Edit and send exchange ${from}` : 'New request';
  const leave = () => go('exchanges', from > 0 ? String(from) : undefined);
  const send = (texts: Texts) => {
    const { method = '', target = '', key = '', headers = '', body } = Object.fromEntries(texts);
    const request = { method, target, key: key.trim(), headers: parseHeaderLines(headers) };
    return sendAndOpen({ ...request, body: body || undefined }, from || undefined);
  };
  return (
    <Panel title={title} close="Cancel" onClose={leave}>
      <Await of={loaded}>
        {({ method, target, key, headers, body }) => (
          <Form class="form" draft={`request ${from}`} onSubmit={send}>
            <Field name="method" label="Method" value={method} options={METHODS} />
            <Field
              name="target"
              label="Path"
              value={target}
              pattern="/.*"
              title="A path begins with a slash."
              required
            />
            <Field name="key" label="API key" value={key} />
            <Field
              name="headers"
              label="Other headers, one a line"
              rows={Math.min(8, headers.length + 1)}
              value={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
            />
            <Field name="body" label="Body" rows={8} value={body} />
            <button type="submit">Send</button>
          </Form>
        )}
      </Await>
    </Panel>
  );
}
