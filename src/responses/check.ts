import { parseJson } from '../contract/json.ts';
import { type DocumentedReply, operationShape } from '../contract/operations.ts';
import { RECORDS, readRecord } from '../contract/records.ts';
import { type RunningServer, startServer } from '../server.ts';
import { type Listed, type Step, stepsOf, WAY_NAMES, type WayName } from './listed.ts';

export interface Checked {
  readonly listed: Listed;
  readonly way: WayName;
  /** What is wrong with the reply; undefined where it came as it should. */
  readonly problem: string | undefined;
}

/** What a reply that an assumption adds carries: the same as the documented refusals. */
const ERROR: DocumentedReply = { description: 'An error.', body: { record: 'Error' } };

interface Got {
  readonly status: number;
  readonly basis: string;
  readonly text: string;
}

type Checkable = Pick<RunningServer, 'url' | 'close'>;

/**
 * Gets every reply in each of its ways, from a server of its own.
 *
 * @param start what starts that server; one with the defaults where it is left out
 */
export async function checkReplies(
  replies: readonly Listed[],
  start: () => Promise<Checkable> = () => startServer({ port: 0 }),
): Promise<Checked[]> {
  const server = await start();
  try {
    const { origin } = new URL(server.url);
    const checked: Checked[] = [];
    for (const listed of replies) {
      for (const way of WAY_NAMES) {
        const steps = stepsOf(listed, way, `check-${checked.length + 1}`);
        const problem = await take(origin, steps).then(
          (got) => (typeof got === 'string' ? got : problemOf(got, listed, way)),
          (error: unknown) => `no reply: ${String(error)}`,
        );
        checked.push({ listed, way, problem });
      }
    }
    return checked;
  } finally {
    await server.close();
  }
}

/** Takes the steps; a string says which of the first ones was refused. */
async function take(origin: string, steps: readonly Step[]): Promise<Got | string> {
  let got: Got = { status: 0, basis: '', text: '' };
  for (const [index, step] of steps.entries()) {
    for (let time = 0; time < step.times; time += 1) got = await send(origin, step);
    if (index < steps.length - 1 && got.status >= 400) {
      return `${step.method} ${step.path} got ${got.status}: ${got.text}`;
    }
  }
  return got;
}

async function send(origin: string, { method, path, headers, body }: Step): Promise<Got> {
  const content = typeof body === 'number' ? Buffer.alloc(body, ' ') : body;
  const reply = await fetch(`${origin}${path}`, {
    method,
    headers,
    ...(content !== undefined && { body: content }),
  });
  const basis = reply.headers.get('Mock-Basis') ?? '';
  return { status: reply.status, basis, text: await reply.text() };
}

function problemOf(got: Got, listed: Listed, way: WayName): string | undefined {
  if (got.status !== listed.status)
    return `got ${got.status} (${got.basis}): ${got.text.slice(0, 200)}`;
  const basis = basisOf(listed, way);
  if (!basis.test(got.basis)) return `its basis is ${got.basis}, not ${basis.source}`;
  return bodyProblem(got.text, listed);
}

/** What `Mock-Basis` has to say. A shipped scenario may choose another option of the same question. */
function basisOf({ ground, way }: Listed, name: WayName): RegExp {
  if (name === 'prefer') return /^forced;by="prefer"$/;
  if (name === 'scenario' && way.preset === undefined) return /^forced;by="[^"]+#1"$/;
  if (ground === 'documented') return /^documented$/;
  const [id = ''] = ground.split('=');
  return new RegExp(`^assumed;by="(.*, )?${name === 'state' ? ground : `${id}=.*`}(, .*)?"$`);
}

function bodyProblem(text: string, { operation, status, ground }: Listed): string | undefined {
  const shape = ground === 'documented' ? operationShape(operation).replies[status] : ERROR;
  if (shape === undefined || shape.bodyNotShown) return undefined;
  if (shape.body === undefined) return text === '' ? undefined : 'it has a body';
  const { record, list } = shape.body;
  const body = jsonIn(text);
  if (body === undefined) return `its body is no JSON: ${text.slice(0, 200)}`;
  if (list && !Array.isArray(body)) return 'its body is no array';
  const records: readonly unknown[] = list && Array.isArray(body) ? body : [body];
  for (const value of records) {
    const reading = readRecord(RECORDS[record], value);
    if (!reading.ok) return `its body is no ${record}: ${JSON.stringify(reading.problems)}`;
  }
  if (record === 'Error' && Number(statusIn(body)) !== status) {
    return 'its Error has another status';
  }
  return undefined;
}

/** Undefined where it is none: a body that cannot be read fails its own reply, not the check. */
function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function statusIn(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined;
}
