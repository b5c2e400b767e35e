import { useContext, useState } from 'preact/hooks';
import {
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../../../core/contract/operations.ts';
import { writeJson } from '../../../core/json.ts';
import { Button, copy, Segments } from '../parts/buttons.tsx';
import { Links } from '../parts/coverage.tsx';
import { Await, Fold, Panel } from '../parts/panel.tsx';
import { type Column, Rows, Table } from '../parts/table.tsx';
import { Prose } from '../parts/texts.tsx';
import { exampleRequest, formatCurlCommand } from '../state/requests.ts';
import { useResource } from '../state/resource.ts';
import { formatHref, go, route } from '../state/route.ts';
import { client, controlPath, sandbox } from '../state/session.ts';
import { MethodBadge } from './exchange-rows.tsx';

export function ReferenceView() {
  const { item } = route.value;
  const opened = OPERATION_IDS.find((id) => id === item);
  const pathOf = (file: string) => `${controlPath(sandbox)}/${file}`;
  return (
    <div class={opened ? 'split' : ''}>
      <div>
        <Table
          caption="Operations"
          columns={COLUMNS}
          rows={OPERATION_IDS}
          keyOf={(id) => id}
          opened={item}
        />
        <p class="quiet">
          For your tools, there are OpenAPI documents of{' '}
          <a href={pathOf('service.openapi.json')}>the service</a> and of{' '}
          <a href={pathOf('openapi.json')}>the control API</a>, which{' '}
          <code>docs/control-api.md</code> explains.
        </p>
      </div>
      {opened && (
        <Panel key={item} title={opened} onClose={() => go('reference')} of={{ value: opened }}>
          {(id) => <OperationText id={id} />}
        </Panel>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<OperationId>[] = [
  {
    name: 'Method',
    class: 'method-cell',
    cell: (id) => <MethodBadge method={operationShape(id).method} />,
  },
  { name: 'Path', cell: (id) => <code>{operationShape(id).path}</code> },
  {
    name: 'Operation',
    cell: (id) => (
      <a href={formatHref('reference', id)} aria-current={route.value.item === id}>
        {id}
      </a>
    ),
  },
  { name: 'Summary', cell: (id) => operationShape(id).summary },
];

function OperationText({ id }: { readonly id: OperationId }) {
  const { method, path, description, parameters } = operationShape(id);
  const request = exampleRequest(id);
  return (
    <div class="pair">
      <section aria-label="Request">
        <p>
          <MethodBadge method={method} /> <code>{path}</code>
        </p>
        <p>
          <Prose text={description} />
        </p>
        <Rows of={parameters} keyOf={({ name }) => name} label="Parameters">
          {({ name, in: where, description: meaning }) => (
            <>
              <code>{name}</code> <span class="grow">{meaning}</span>
              <span class="quiet">{where}</span>
            </>
          )}
        </Rows>
        {request.body && <pre class="body">{request.body}</pre>}
        <div class="bar">
          <a href={formatHref('exchanges', 'new', { of: id })}>Try it</a>
          <Button label="Copy as curl" onClick={() => copy(formatCurlCommand(request))} />
        </div>
      </section>
      <Replies of={id} />
    </div>
  );
}

type Reply = Readonly<Record<string, unknown>>;

/** The replies of an operation, as the OpenAPI document has them. */
function Replies({ of }: { readonly of: OperationId }) {
  const [shown, show] = useState('');
  const loaded = useResource(
    'replies',
    async (signal): Promise<Readonly<Record<string, Reply>>> => {
      const { method, path } = operationShape(of);
      const api: object = Object(await client.call('GET /service.openapi.json', { signal }));
      return Object(resolve(['paths', path, method.toLowerCase(), 'responses'], api));
    },
  );
  return (
    <section aria-label="Replies">
      <Await of={loaded}>
        {(replies) => {
          const chosen = shown || (Object.keys(replies)[0] ?? '');
          return (
            <>
              {['documented', 'assumed'].map((basis) => {
                const isOf = (status: string) => replies[status]?.['x-mock-basis'] === basis;
                const statuses = Object.keys(replies).filter(isOf);
                return (
                  <p key={basis} class="bar">
                    <span class={`badge ${basis}`}>{basis}</span>
                    <Segments
                      label={`Replies, ${basis}`}
                      names={statuses}
                      chosen={chosen}
                      onChoose={show}
                    />
                  </p>
                );
              })}
              <ReplyText of={replies[chosen] ?? {}} />
            </>
          );
        }}
      </Await>
    </section>
  );
}

function ReplyText({ of }: { readonly of: Reply }) {
  const links = useContext(Links);
  const example = findExample(Object.values(Object(of.content))[0]);
  const grounds = [of['x-mock-assumptions'] ?? []].flat().map(String);
  return (
    <>
      <p>
        <Prose text={String(of.description)} />{' '}
        {grounds.map((ground) => (
          <span key={ground}>{links.ground(ground)} </span>
        ))}
      </p>
      {example !== undefined && <pre class="body">{writeJson(example, 2)}</pre>}
      <Fold title="Schema">{() => <pre class="body">{writeJson(of, 2)}</pre>}</Fold>
    </>
  );
}

/** That of a body, of its schema, or of the items of a list. */
function findExample(part: unknown): unknown {
  const { examples = {}, schema, items } = Object(part);
  const [first] = Object.values<object>(examples);
  if (first !== undefined) return 'value' in first ? first.value : first;
  return items ? [findExample(items)] : schema && findExample(schema);
}

/** What is at a place of a document, without references. */
function resolve(place: readonly string[], document: object): unknown {
  const expand = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value) return resolve(String(value.$ref).split('/').slice(1), document);
    if (Array.isArray(value)) return value.map(expand);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, expand(part)]));
  };
  return expand(place.reduce<unknown>((part, step) => Object(part)[step], document));
}
