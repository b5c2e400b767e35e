import type { Address } from '../http/target.ts';
import { curlCommand } from '../raw-http.ts';
import {
  expandSteps,
  formatTitle,
  listSafeSteps,
  type RecipeStep,
  type ReplyRecipe,
  WAY_NAMES,
} from './reply-recipes.ts';

/** Longer bodies are not written into a file. */
const MAX_FILE_BODY = 65_536;

function listWalks(replies: readonly ReplyRecipe[], sandbox: string) {
  return replies.flatMap((recipe) =>
    WAY_NAMES.map((way) => {
      const { operation, status } = recipe;
      const steps = listSafeSteps(recipe, way, sandbox);
      return { title: formatTitle(recipe, way), operation, status, steps };
    }),
  );
}

export function formatCurlLines(
  replies: readonly ReplyRecipe[],
  { root, sandbox }: Address,
): string {
  const blocks = listWalks(replies, sandbox).map(({ title, steps, status }) => {
    const lines = steps.map((step, index) =>
      index < steps.length - 1
        ? `${formatCurl(step, root, ['-s', '-o', '/dev/null'])}\n`
        : `${formatCurl(step, root, ['-i'])}  # ${status}\n`,
    );
    return `# ${title}\n${lines.join('')}`;
  });
  return blocks.join('\n');
}

function formatCurl(
  { method, path, headers, body, times }: RecipeStep,
  origin: string,
  options: string[],
) {
  const request = { method, url: `${origin}${path}`, headers: Object.entries(headers) };
  if (typeof body === 'number') {
    const line = curlCommand(request, [...options, '--data-binary', '@-']);
    return `head -c ${body} /dev/zero | ${line}`;
  }
  const line = curlCommand({ ...request, body }, options);
  return times === 1 ? line : `for n in $(seq ${times}); do ${line}; done`;
}

/** The requests of all ways whose bodies can be written into a file, and a note on the others. */
function listWritable(replies: readonly ReplyRecipe[], sandbox: string) {
  const all = listWalks(replies, sandbox);
  const walks = all.filter(({ steps }) =>
    steps.every(({ body }) => typeof body !== 'number' || body <= MAX_FILE_BODY),
  );
  const left = all.length - walks.length;
  const note = `${left} are left out, whose bodies are larger than 64 KiB: petstore-mock responses --curl has them.`;
  return { requests: walks.flatMap(nameRequests), note: left > 0 ? note : undefined };
}

/** The last request of a way has its status. */
function nameRequests({ title, operation, status, steps }: ReturnType<typeof listWalks>[number]) {
  const all = expandSteps(steps);
  return all.map(({ method, path, headers, body }, index) => {
    const isLast = index === all.length - 1;
    return {
      name: `${title}: ${isLast ? `gets ${status}` : `${index + 1} of ${all.length}`}`,
      operation,
      method,
      path,
      headers: Object.entries(headers).map(([name, value]) => ({
        key: name,
        value: value.replace(/^Bearer demo-key$/, 'Bearer {{key}}'),
      })),
      body: typeof body === 'number' ? ' '.repeat(body) : body,
      status: isLast ? status : undefined,
    };
  });
}

/** An `.http` file, as the HTTP clients of JetBrains and VS Code read it. */
export function formatHttpFile(
  replies: readonly ReplyRecipe[],
  { root, sandbox }: Address,
): string {
  const { requests, note } = listWritable(replies, sandbox);
  const texts = requests.map(({ name, method, path, headers, body }) => {
    const fields = headers.map(({ key, value }) => `${key}: ${value}\n`).join('');
    const content = body === undefined ? '' : `\n${body}\n`;
    return `### ${name}\n${method} {{host}}${path}\n${fields}${content}`;
  });
  const head = note === undefined ? '' : `# ${note}\n`;
  return `${head}@host = ${root}\n@key = demo-key\n\n${texts.join('\n')}`;
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** A Postman collection, format 2.1, which tests each status. */
export function createPostmanCollection(
  replies: readonly ReplyRecipe[],
  { root, sandbox }: Address,
): object {
  const { requests, note } = listWritable(replies, sandbox);
  const operations = [...new Set(requests.map(({ operation }) => operation))];
  return {
    info: { name: 'petstore-mock: every reply', schema: SCHEMA, description: note },
    variable: [
      { key: 'baseUrl', value: root },
      { key: 'key', value: 'demo-key' },
    ],
    item: operations.map((name) => ({
      name,
      item: requests.filter(({ operation }) => operation === name).map(createPostmanItem),
    })),
  };
}

function createPostmanItem(request: ReturnType<typeof nameRequests>[number]): object {
  const { name, method, path, headers, body, status } = request;
  const test = `pm.test('gets ${status}', () => pm.response.to.have.status(${status}));`;
  return {
    name,
    request: {
      method,
      url: `{{baseUrl}}${path}`,
      header: headers,
      ...(body !== undefined && { body: { mode: 'raw', raw: body } }),
    },
    ...(status !== undefined && {
      event: [{ listen: 'test', script: { type: 'text/javascript', exec: [test] } }],
    }),
  };
}
