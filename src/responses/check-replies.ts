import { jsonOf } from '../deployment/check-transcript.ts';
import { type Compared, isBreak, replyDifferences } from '../deployment/reply-differences.ts';
import { type RunningServer, startServer } from '../server.ts';
import { type Listed, type Step, stepsOf, WAY_NAMES, type WayName } from './listed.ts';

export interface Checked {
  readonly listed: Listed;
  readonly way: WayName;
  /** What is wrong with the reply. */
  readonly problem: string | undefined;
}

interface Got extends Compared {
  readonly basis: string;
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
    if (got.status >= 400) return `${step.method} ${step.path} got ${got.status}: ${textOf(got)}`;
  }
  return undefined;
}

async function send(origin: string, { method, path, headers, body }: Step): Promise<Got> {
  const content = typeof body === 'number' ? Buffer.alloc(body, ' ') : (body ?? null);
  const received = await fetch(`${origin}${path}`, { method, headers, body: content });
  const { status } = received;
  const reply = { status, headers: [], body: Buffer.from(await received.arrayBuffer()) };
  const header = (name: string) => received.headers.get(name) ?? undefined;
  return { status, reply, header, json: jsonOf(reply.body), basis: header('mock-basis') ?? '' };
}

function problemOf(got: Got, listed: Listed, way: WayName): string | undefined {
  const { status, basis, reply } = got;
  if (status !== listed.status) return `got ${status} (${basis}): ${textOf(got)}`;
  const wanted = basisOf(listed, way);
  if (!wanted.test(basis)) return `its basis is ${basis}, not ${wanted.source}`;
  if (listed.ground !== 'documented' && reply.body.length === 0) return 'its Error is missing';
  const [wrong] = replyDifferences(got, listed.operation).filter(isBreak);
  return (
    wrong && `its ${wrong.at ?? 'body'} is wrong: expected ${wrong.expected}, found ${wrong.found}`
  );
}

function textOf({ reply }: Got): string {
  return reply.body.toString().slice(0, 200);
}

/** The expected `Mock-Basis`. A shipped scenario may choose another option of the assumption. */
function basisOf({ ground, way }: Listed, name: WayName): RegExp {
  if (name === 'prefer') return /^forced;by="prefer"$/;
  if (name === 'scenario' && way.preset === undefined) return /^forced;by="[^"]+#1"$/;
  if (ground === 'documented') return /^documented$/;
  const [id = ''] = ground.split('=');
  return new RegExp(`^assumed;by="(.*, )?${name === 'state' ? ground : `${id}=.*`}(, .*)?"$`);
}
