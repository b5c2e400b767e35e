import {
  type ComparableReply,
  isBreak,
  jsonOfBody,
  replyDifferences,
} from '../deployment/deployment-reply.ts';
import { parseAddress } from '../http/target.ts';
import { type RunningServer, startServer } from '../server.ts';
import {
  type RecipeStep,
  type ReplyRecipe,
  stepsOf,
  WAY_NAMES,
  type WayName,
} from './reply-recipes.ts';

export interface RecipeCheck {
  readonly recipe: ReplyRecipe;
  readonly way: WayName;
  /** What is wrong with the reply. */
  readonly problem: string | undefined;
}

interface ReplyWithBasis extends ComparableReply {
  readonly basis: string;
}

/**
 * Gets every reply in each of its ways.
 *
 * @param start starts the server; by default one with default settings
 */
export async function checkReplies(
  replies: readonly ReplyRecipe[],
  start: () => Promise<Pick<RunningServer, 'url' | 'close'>> = () => startServer({ port: 0 }),
): Promise<RecipeCheck[]> {
  const server = await start();
  try {
    const { root } = parseAddress(server.url);
    const checked: RecipeCheck[] = [];
    for (const recipe of replies) {
      for (const way of WAY_NAMES) {
        const steps = stepsOf(recipe, way, `check-${checked.length + 1}`);
        const problem = await walk(root, steps, (got) => problemOf(got, recipe, way)).catch(
          (error: unknown) => `no reply: ${String(error)}`,
        );
        checked.push({ recipe, way, problem });
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
  steps: readonly RecipeStep[],
  judge: (got: ReplyWithBasis) => string | undefined,
): Promise<string | undefined> {
  for (const [index, step] of steps.entries()) {
    let got = await send(origin, step);
    for (let time = 1; time < step.times; time += 1) got = await send(origin, step);
    if (index === steps.length - 1) return judge(got);
    if (got.status >= 400) return `${step.method} ${step.path} got ${got.status}: ${textOf(got)}`;
  }
  return undefined;
}

async function send(
  origin: string,
  { method, path, headers, body }: RecipeStep,
): Promise<ReplyWithBasis> {
  const content = typeof body === 'number' ? Buffer.alloc(body, ' ') : (body ?? null);
  const received = await fetch(`${origin}${path}`, { method, headers, body: content });
  const reply = Buffer.from(await received.arrayBuffer());
  return {
    status: received.status,
    headers: [...received.headers].flat(),
    body: reply,
    json: jsonOfBody(reply),
    basis: received.headers.get('mock-basis') ?? '',
  };
}

function problemOf(got: ReplyWithBasis, recipe: ReplyRecipe, way: WayName): string | undefined {
  const { status, basis } = got;
  if (status !== recipe.status) return `got ${status} (${basis}): ${textOf(got)}`;
  const wanted = basisOf(recipe, way);
  if (!wanted.test(basis)) return `its basis is ${basis}, not ${wanted.source}`;
  if (recipe.ground !== 'documented' && got.body.length === 0) return 'its Error is missing';
  const [wrong] = replyDifferences(got, recipe.operation).filter(isBreak);
  return (
    wrong && `its ${wrong.at ?? 'body'} is wrong: expected ${wrong.expected}, found ${wrong.found}`
  );
}

function textOf({ body }: ReplyWithBasis): string {
  return body.toString().slice(0, 200);
}

/** The expected `Mock-Basis`. A shipped scenario may choose another option of the assumption. */
function basisOf({ ground, way }: ReplyRecipe, name: WayName): RegExp {
  if (name === 'prefer') return /^forced;by="prefer"$/;
  if (name === 'scenario' && way.preset === undefined) return /^forced;by="[^"]+#1"$/;
  if (ground === 'documented') return /^documented$/;
  const [id = ''] = ground.split('=');
  return new RegExp(`^assumed;by="(.*, )?${name === 'state' ? ground : `${id}=.*`}(, .*)?"$`);
}
