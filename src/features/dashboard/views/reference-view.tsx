import { useState } from 'preact/hooks';
import { writeJson } from '../../../core/json.ts';
import { Button, copy, Segments } from '../parts/buttons.tsx';
import { Form, FormField, type Texts } from '../parts/form.tsx';
import { Await, Fold, Tabs } from '../parts/panel.tsx';
import { Prose, visible } from '../parts/texts.tsx';
import {
  FIRST_REQUEST,
  fetchRequest,
  formatBody,
  formatCurlCommand,
  indentJson,
  type Request,
  sendNow,
} from '../state/requests.ts';
import { formatError, useResource } from '../state/resource.ts';
import { formatHref, route } from '../state/route.ts';
import { client, controlToken } from '../state/session.ts';
import { MethodBadge, StatusBadge } from './exchange-rows.tsx';

type Texted = Readonly<Record<'name' | 'title' | 'description', string>>;

interface ApiDocument {
  readonly info: Texted;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly Texted[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Texted & {
    readonly in: 'path' | 'query';
    readonly required?: boolean;
    readonly example?: unknown;
  })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { example?: unknown }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

const TITLES = { service: 'Service', control: 'Control API' } as const;

export function ReferenceView() {
  const shown = route.value.item === 'control' ? 'control' : 'service';
  const endpoint = shown === 'control' ? 'GET /openapi.json' : 'GET /service.openapi.json';
  const api = useResource<ApiDocument>(endpoint, async (signal) =>
    Object(await client.call(endpoint, { signal })),
  );
  return (
    <>
      <Tabs label="APIs" view="reference" items={TITLES} current={shown} />
      <Await of={api}>
        {({ info, tags, paths, servers: [server], ...rest }) => (
          <div key={info.title}>
            <h2>{info.title}</h2>
            <Prose text={info.description} />
            {tags.map((tag) => (
              <section key={tag.name} aria-label={tag.name}>
                <h2>{tag.name}</h2>
                <p class="quiet">{tag.description}</p>
                {listOperations(paths, tag.name).map(({ path, method, operation }) => (
                  <Fold
                    key={path + method}
                    title={
                      <>
                        <MethodBadge method={method} /> <code>{path}</code>: {operation.summary}
                      </>
                    }
                  >
                    {() => <Trial {...{ url: `${server?.url}${path}`, method, operation, rest }} />}
                  </Fold>
                ))}
              </section>
            ))}
          </div>
        )}
      </Await>
    </>
  );
}

function listOperations(paths: ApiDocument['paths'], tag: string) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.tags.includes(tag) ? [{ path, method: method.toUpperCase(), operation }] : [],
    ),
  );
}

interface TrialProps {
  readonly url: string;
  readonly method: string;
  readonly operation: Operation;
  readonly rest: object;
}

function Trial({ url, method, operation, rest }: TrialProps) {
  const { parameters = [], requestBody } = operation;
  const [reply, setReply] = useState<{ status?: number; text: string; exchange?: number }>();
  const isService = route.value.item !== 'control';
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const read = (texts: Texts): Request => {
    const target = new URL(
      url.replaceAll(/\{(\w+)\}/g, (_all, name) => encodeURIComponent(texts.get(`:${name}`) ?? '')),
    );
    for (const { in: where, name } of parameters) {
      const text = texts.get(`:${name}`);
      if (where === 'query' && text) target.searchParams.set(name, text);
    }
    return {
      method,
      target: target.pathname + target.search,
      key: (isService ? texts.get('key') : controlToken()) ?? '',
      headers: type === undefined ? [] : [['Content-Type', type]],
      body: texts.get('body') || undefined,
    };
  };
  const [request, setRequest] = useState<Request>();
  const send = async (texts: Texts) => {
    const sent = read(texts);
    try {
      if (isService) {
        const number = await sendNow(sent);
        const path = { number };
        const { status = 0, reply: got } = await client.call('GET /requests/{number}', { path });
        const text = got.body === undefined ? '' : formatBody(got.body, 2);
        setReply({ status, text, exchange: number });
        return;
      }
      // A stream would never end.
      const answer = await fetchRequest(sent, {}, AbortSignal.timeout(10_000));
      setReply({ status: answer.status, text: indentJson(await answer.text()) });
    } catch (error) {
      setReply({ text: formatError(error) });
    }
  };
  return (
    <Form
      class="card"
      aria-label={operation.operationId}
      onSubmit={send}
      onTexts={(texts) => setRequest(read(texts))}
    >
      <Prose text={operation.description ?? ''} />
      <div class="pair">
        <div class="form">
          {isService && <FormField name="key" label="API key" value={FIRST_REQUEST.key} />}
          {parameters.map(({ name, in: where, description, example = '', required }) => (
            <FormField
              key={name}
              name={`:${name}`}
              label={`${name} (${where}): ${description}`}
              {...{ required, value: String(example) }}
            />
          ))}
          {content && (
            <FormField
              name="body"
              label={`Body: ${type}`}
              rows={6}
              value={writeJson(content.example, 2)}
            />
          )}
          <div class="bar">
            <button type="submit">Send</button>
            {request && (
              <Button label="Copy as curl" onClick={() => copy(formatCurlCommand(request))} />
            )}
          </div>
          <div role="status">
            {reply && <StatusBadge status={reply.status} />}{' '}
            {reply?.exchange && (
              <a href={formatHref('exchanges', reply.exchange)}>Exchange {reply.exchange}</a>
            )}
            {reply && <pre class="body">{visible(reply.text.slice(0, 100_000))}</pre>}
          </div>
        </div>
        <Replies of={operation} rest={rest} />
      </div>
    </Form>
  );
}

function Replies({ of, rest }: { readonly of: Operation; readonly rest: object }) {
  const { responses, requestBody } = of;
  const all = Object.keys(responses);
  const [shown, show] = useState(0);
  const reply = Object(resolve(responses[all[shown] ?? ''], rest));
  const [content] = Object.values<{ example?: unknown }>(reply.content ?? {});
  return (
    <section aria-label="Replies">
      <Segments
        label="Statuses"
        items={all.map((status) => [status])}
        chosen={shown}
        onChoose={show}
      />
      <p>
        <Prose text={String(reply.description ?? '')} />
      </p>
      {content?.example !== undefined && <pre class="body">{formatBody(content.example, 2)}</pre>}
      <Fold title="Schemas">
        {() => (
          <pre class="body">{writeJson({ requestBody: resolve(requestBody, rest), reply }, 2)}</pre>
        )}
      </Fold>
    </section>
  );
}

function resolve(value: unknown, document: object, depth = 12): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  const next = (part: unknown) => resolve(part, document, depth - 1);
  if ('$ref' in value) {
    const steps = String(value.$ref).split('/').slice(1);
    return next(steps.reduce<unknown>((part, step) => Object(part)[step], document));
  }
  if (Array.isArray(value)) return value.map(next);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, next(part)]));
}
