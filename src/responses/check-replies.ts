import {
  type ComparableReply,
  isBreak,
  parseBody,
  replyDifferences,
} from '../deployment/deployment-reply.ts';
import { parseAddress } from '../http/target.ts';
import { findHeader } from '../raw-http.ts';
import { type RunningServer, startServer } from '../server.ts';
import {
  expandSteps,
  listResetSteps,
  type RecipeStep,
  type ReplyRecipe,
  WAY_NAMES,
  type WayName,
} from './reply-recipes.ts';

export interface RecipeCheck {
  readonly recipe: ReplyRecipe;
  readonly way: WayName;
  readonly problem: string | undefined;
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
    const checks: RecipeCheck[] = [];
    for (const recipe of replies) {
      for (const way of WAY_NAMES) {
        const steps = listResetSteps(recipe, way, `check-${checks.length + 1}`);
        const problem = await walk(root, steps, recipe, way).catch(
          (error: unknown) => `no reply: ${String(error)}`,
        );
        checks.push({ recipe, way, problem });
      }
    }
    return checks;
  } finally {
    await server.close();
  }
}

/** Takes the steps, and judges the last reply; what prepares it must succeed. */
async function walk(
  root: string,
  steps: readonly RecipeStep[],
  recipe: ReplyRecipe,
  way: WayName,
): Promise<string | undefined> {
  const requests = expandSteps(steps);
  for (const [index, request] of requests.entries()) {
    const reply = await send(root, request);
    if (index === requests.length - 1) return findProblem(reply, recipe, way);
    if (reply.status < 400 || request === requests.at(-1)) continue;
    return `${request.method} ${request.path} got ${reply.status}: ${readBody(reply)}`;
  }
  return undefined;
}

async function send(root: string, request: RecipeStep): Promise<ComparableReply> {
  const { method, path, headers, body: sent = null } = request;
  const content = typeof sent === 'number' ? Buffer.alloc(sent, ' ') : sent;
  const response = await fetch(`${root}${path}`, { method, headers, body: content });
  const body = Buffer.from(await response.arrayBuffer());
  const raw = [...response.headers].flat();
  return { status: response.status, headers: raw, body, json: parseBody(body) };
}

function findProblem(
  reply: ComparableReply,
  recipe: ReplyRecipe,
  way: WayName,
): string | undefined {
  const basis = findHeader(reply.headers, 'mock-basis') ?? '';
  if (reply.status !== recipe.status) return `got ${reply.status} (${basis}): ${readBody(reply)}`;
  const expected = expectBasis(recipe, way);
  if (!expected.test(basis)) return `its basis is ${basis}, not ${expected.source}`;
  if (recipe.ground !== 'documented' && reply.body.length === 0) return 'its Error is missing';
  const [difference] = replyDifferences(reply, recipe.operation).filter(isBreak);
  return (
    difference &&
    `its ${difference.at ?? 'body'} is wrong: expected ${difference.expected}, found ${difference.found}`
  );
}

function readBody({ body }: ComparableReply): string {
  return body.toString().slice(0, 200);
}

function expectBasis({ ground, way }: ReplyRecipe, name: WayName): RegExp {
  if (name === 'prefer') return /^forced;by="prefer"$/;
  if (name === 'scenario' && way.preset === undefined) return /^forced;by="[^"]+#1"$/;
  if (ground === 'documented') return /^documented$/;
  const [id = ''] = ground.split('=');
  return new RegExp(`^assumed;by="(.*, )?${name === 'state' ? ground : `${id}=.*`}(, .*)?"$`);
}
