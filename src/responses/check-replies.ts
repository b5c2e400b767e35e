import { parseJson } from '../contract/json.ts';
import { operationShape } from '../contract/operations.ts';
import { RECORDS, readRecord } from '../contract/records.ts';
import { type RunningServer, startServer } from '../server.ts';
import { type Listed, type Step, stepsOf, WAY_NAMES, type WayName } from './listed.ts';

export interface Checked {
  readonly listed: Listed;
  readonly way: WayName;
  /** What is wrong with the reply. */
  readonly problem: string | undefined;
}

interface Got {
  readonly status: number;
  readonly basis: string;
  readonly text: string;
}

/**
 * Gets every reply in each of its ways.
 *
 * @param start starts the server; by default one with default settings
 */
export async function checkReplies(
  replies: readonly Listed[],
  start: () => Promise<Pick<RunningServer, 'url' | 'close'>> = () => startServer({ port: 0 }),
): Promise<Checked[]> {
  const server = await start();
  try {
    const { origin } = new URL(server.url);
    const checked: Checked[] = [];
    for (const listed of replies) {
      for (const way of WAY_NAMES) {
        const steps = stepsOf(listed, way, `check-${checked.length + 1}`);
        const problem = await walk(origin, steps, (got) => problemOf(got, listed, way)).catch(
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

/** Takes the steps, and judges the last reply; the others must succeed. */
async function walk(
  origin: string,
  steps: readonly Step[],
  judge: (got: Got) => string | undefined,
): Promise<string | undefined> {
  for (const [index, step] of steps.entries()) {
    let got = await send(origin, step);
    for (let time = 1; time < step.times; time += 1) got = await send(origin, step);
    if (index === steps.length - 1) return judge(got);
    if (got.status >= 400) return `${step.method} ${step.path} got ${got.status}: ${got.text}`;
  }
  return undefined;
}

async function send(origin: string, { method, path, headers, body }: Step): Promise<Got> {
  const content = typeof body === 'number' ? Buffer.alloc(body, ' ') : (body ?? null);
  const reply = await fetch(`${origin}${path}`, { method, headers, body: content });
  const basis = reply.headers.get('Mock-Basis') ?? '';
  return { status: reply.status, basis, text: await reply.text() };
}

function problemOf({ status, basis, text }: Got, listed: Listed, way: WayName) {
  if (status !== listed.status) return `got ${status} (${basis}): ${text.slice(0, 200)}`;
  const wanted = basisOf(listed, way);
  if (!wanted.test(basis)) return `its basis is ${basis}, not ${wanted.source}`;
  return bodyProblem(text, listed);
}

/** The expected `Mock-Basis`. A shipped scenario may choose another option of the assumption. */
function basisOf({ ground, way }: Listed, name: WayName): RegExp {
  if (name === 'prefer') return /^forced;by="prefer"$/;
  if (name === 'scenario' && way.preset === undefined) return /^forced;by="[^"]+#1"$/;
  if (ground === 'documented') return /^documented$/;
  const [id = ''] = ground.split('=');
  return new RegExp(`^assumed;by="(.*, )?${name === 'state' ? ground : `${id}=.*`}(, .*)?"$`);
}

function bodyProblem(text: string, { operation, status, ground }: Listed): string | undefined {
  const documented =
    ground === 'documented' ? operationShape(operation).replies[status] : undefined;
  if (documented?.bodyNotShown) return undefined;
  if (documented !== undefined && documented.body === undefined) {
    return text === '' ? undefined : 'it has a body';
  }
  const { record, list = false } = documented?.body ?? { record: 'Error' };
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    return `its body is not JSON: ${text.slice(0, 200)}`;
  }
  if (list && !Array.isArray(body)) return 'its body is not an array';
  for (const value of list ? [body].flat() : [body]) {
    const reading = readRecord(RECORDS[record], value);
    if (!reading.ok)
      return `its body is not a valid ${record}: ${JSON.stringify(reading.problems)}`;
  }
  if (record !== 'Error') return undefined;
  const error = readRecord(RECORDS.Error, body);
  const isSame = error.ok && Number(error.value.status) === status;
  return isSame ? undefined : 'its Error has another status';
}
