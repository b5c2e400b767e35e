import { OPERATION_IDS } from '../../../core/contract/operations.ts';
import { Form, FormField, Submit, type Texts } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import {
  copyRequest,
  exampleRequest,
  firstRequest,
  parseHeaderLines,
  sendAndOpen,
} from '../state/requests.ts';
import { useResource } from '../state/resource.ts';
import { go, route } from '../state/route.ts';
import { client } from '../state/session.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'];

const PATH = {
  name: 'target',
  label: 'Path',
  pattern: '/.*',
  title: 'A path begins with a slash.',
  required: true,
};

export function RequestForm() {
  const { query } = route.value;
  const from = Number(query.get('from'));
  const of = OPERATION_IDS.find((id) => id === query.get('of'));
  const loaded = useResource(`${from}`, async (signal) => {
    if (!(from > 0)) return { at: '', ...(of ? exampleRequest(of) : firstRequest()) };
    const path = { number: from };
    const exchange = await client.call('GET /requests/{number}', { path, signal });
    return { at: exchange.at, ...copyRequest(exchange) };
  });
  const title = from > 0 ? `Edit and send exchange ${from}` : 'New request';
  const leave = () => (of ? go('reference', of) : go('exchanges', from > 0 ? from : undefined));
  const send = (texts: Texts) => {
    const { method = '', target = '', key = '', body } = Object.fromEntries(texts);
    const headers = parseHeaderLines(texts.get('headers') ?? '');
    if (headers === undefined) return new Map([['headers', 'Enter one “name: value” a line.']]);
    const request = { method, target, key: key.trim(), headers, body: body || undefined };
    return sendAndOpen(request, from || undefined);
  };
  return (
    <Panel title={title} close="Cancel" onClose={leave} of={loaded}>
      {({ at, method, target, key, headers, body }) => (
        // The number is that of another call after a reset.
        <Form key={at} class="form" draft={`request ${of ?? from} ${at}`} onSubmit={send}>
          <FormField name="method" label="Method" value={method} options={METHODS} />
          <FormField {...PATH} value={target} />
          <FormField name="key" label="API key" value={key} />
          <FormField
            name="headers"
            label="Other headers, one a line"
            rows={2}
            value={headers.map((header) => header.join(': ')).join('\n')}
          />
          <FormField name="body" label="Body" rows={8} value={body} />
          <Submit label="Send" />
        </Form>
      )}
    </Panel>
  );
}
