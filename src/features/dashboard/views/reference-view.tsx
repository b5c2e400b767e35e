import { useState } from 'preact/hooks';
import { writeJson } from '../../../core/json.ts';
import { Form, FormField, type Texts } from '../parts/form.tsx';
import { Await, Fold, Tabs } from '../parts/panel.tsx';
import { Prose, visible } from '../parts/texts.tsx';
import { FIRST_REQUEST, indentJson } from '../state/requests.ts';
import { formatError, useResource } from '../state/resource.ts';
import { route } from '../state/route.ts';
import { client, controlToken } from '../state/session.ts';
import { StatusBadge } from './exchange-rows.tsx';

type Texted = Readonly<Record<'name' | 'description', string>>;

interface ApiDocument {
  readonly info: Readonly<Record<'title' | 'description', string>>;
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
  readonly responses: object;
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
                  <Fold key={path + method} title={`${method} ${path}: ${operation.summary}`}>
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
  const { parameters = [], requestBody, responses } = operation;
  const [reply, setReply] = useState<{ readonly status?: number; readonly text: string }>();
  const isService = route.value.item !== 'control';
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const send = async (texts: Texts) => {
    const headers = new Headers(type === undefined ? {} : { 'content-type': type });
    const key = isService ? texts.get('key') : controlToken();
    if (key) headers.set('authorization', `Bearer ${key}`);
    const target = new URL(
      url.replaceAll(/\{(\w+)\}/g, (_all, name) => encodeURIComponent(texts.get(`:${name}`) ?? '')),
    );
    for (const { in: where, name } of parameters) {
      const text = texts.get(`:${name}`);
      if (where === 'query' && text) target.searchParams.set(name, text);
    }
    try {
      // A stream would never end.
      const options = { method, headers, signal: AbortSignal.timeout(10_000) };
      const body = texts.get('body') || null;
      const answer = await fetch(target.pathname + target.search, { ...options, body });
      setReply({ status: answer.status, text: indentJson(await answer.text()) });
    } catch (error) {
      setReply({ text: formatError(error) });
    }
  };
  return (
    <Form class="card form" aria-label={operation.operationId} onSubmit={send}>
      <Prose text={operation.description ?? ''} />
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
      <button type="submit">Send</button>
      <div role="status">
        {reply && <StatusBadge status={reply.status} />}
        {reply && <pre>{visible(reply.text.slice(0, 100_000))}</pre>}
      </div>
      <Fold title={`Schemas; replies ${Object.keys(responses).join(', ')}`}>
        {() => <pre>{writeJson(resolve({ requestBody, responses }, rest), 2)}</pre>}
      </Fold>
    </Form>
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
