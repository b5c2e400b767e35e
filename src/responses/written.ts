import { type Listed, repeatable, type Step, titleOf, WAY_NAMES } from './listed.ts';

/** A body longer than this is not written into a file. */
const LONGEST_WRITTEN = 65_536;

/** The steps of every way, with its title and the status that the last one gets. */
interface Walk {
  readonly title: string;
  readonly operation: string;
  readonly status: number;
  readonly steps: readonly Step[];
}

function walksOf(replies: readonly Listed[]): Walk[] {
  return replies.flatMap((listed) =>
    WAY_NAMES.map((way) => ({
      title: titleOf(listed, way),
      operation: listed.operation,
      status: listed.status,
      steps: repeatable(listed, way),
    })),
  );
}

/** The walks whose bodies can be written into a file, and what to say of the others. */
function writable(replies: readonly Listed[]): { walks: Walk[]; note: string | undefined } {
  const all = walksOf(replies);
  const walks = all.filter(({ steps }) =>
    steps.every(({ body }) => typeof body !== 'number' || body <= LONGEST_WRITTEN),
  );
  const left = all.length - walks.length;
  const note = `${left} are left out, whose bodies are larger than 64 KiB: petstore-mock responses --curl has them.`;
  return { walks, note: left > 0 ? note : undefined };
}

/** Lines to copy into a shell. */
export function curlLines(replies: readonly Listed[], origin: string): string {
  return walksOf(replies)
    .map(({ title, steps, status }) => {
      const lines = steps.map((step, index) => {
        const last = index === steps.length - 1;
        return `${curlOf(step, origin, last)}${last ? `  # ${status}` : ''}\n`;
      });
      return `# ${title}\n${lines.join('')}`;
    })
    .join('\n');
}

function curlOf(
  { method, path, headers, body, times }: Step,
  origin: string,
  last: boolean,
): string {
  const words = ['curl', last ? '-i' : '-s -o /dev/null'];
  if (method !== 'GET') words.push('-X', method);
  for (const [name, value] of Object.entries(headers))
    words.push('-H', quoted(`${name}: ${value}`));
  if (typeof body === 'string') words.push('-d', quoted(body));
  if (typeof body === 'number') words.push('--data-binary', '@-');
  words.push(quoted(`${origin}${path}`));
  const line = words.join(' ');
  if (typeof body === 'number') return `head -c ${body} /dev/zero | ${line}`;
  return times === 1 ? line : `for n in $(seq ${times}); do ${line}; done`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Each step as often as it is sent. */
function requestsOf({ steps }: Walk): Step[] {
  return steps.flatMap((step) => Array<Step>(step.times).fill(step));
}

function written({ headers, body }: Step): {
  headers: [string, string][];
  body: string | undefined;
} {
  const own = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    value.replace(/^Bearer demo-key$/, 'Bearer {{key}}'),
  ]);
  return { headers: own, body: typeof body === 'number' ? ' '.repeat(body) : body };
}

/** An `.http` file, as the HTTP clients of JetBrains and VS Code read it. */
export function httpFile(replies: readonly Listed[], origin: string): string {
  const { walks, note } = writable(replies);
  const requests = walks.flatMap((walk) => {
    const all = requestsOf(walk);
    return all.map((step, index) => {
      const { headers, body } = written(step);
      const note =
        index === all.length - 1 ? `gets ${walk.status}` : `${index + 1} of ${all.length}`;
      const lines = [
        `### ${walk.title}: ${note}`,
        `${step.method} {{host}}${step.path}`,
        ...headers.map(([name, value]) => `${name}: ${value}`),
        ...(body === undefined ? [] : ['', body]),
      ];
      return `${lines.join('\n')}\n`;
    });
  });
  const head = note === undefined ? '' : `# ${note}\n`;
  return `${head}@host = ${origin}\n@key = demo-key\n\n${requests.join('\n')}`;
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** A Postman collection, format 2.1, which tests each status. */
export function postmanCollection(replies: readonly Listed[], origin: string): object {
  const { walks, note } = writable(replies);
  const operations = [...new Set(walks.map(({ operation }) => operation))];
  return {
    info: { name: 'petstore-mock: every reply', schema: SCHEMA, description: note },
    variable: [
      { key: 'baseUrl', value: origin },
      { key: 'key', value: 'demo-key' },
    ],
    item: operations.map((name) => ({
      name,
      item: walks.filter((it) => it.operation === name).flatMap(itemsOf),
    })),
  };
}

function itemsOf(walk: Walk): object[] {
  const all = requestsOf(walk);
  return all.map((step, index) => {
    const { headers, body } = written(step);
    const test = `pm.test('gets ${walk.status}', () => pm.response.to.have.status(${walk.status}));`;
    const last = index === all.length - 1;
    return {
      name: last ? walk.title : `${walk.title}: ${index + 1} of ${all.length}`,
      request: {
        method: step.method,
        url: `{{baseUrl}}${step.path}`,
        header: headers.map(([key, value]) => ({ key, value })),
        ...(body !== undefined && { body: { mode: 'raw', raw: body } }),
      },
      ...(last && {
        event: [{ listen: 'test', script: { type: 'text/javascript', exec: [test] } }],
      }),
    };
  });
}
