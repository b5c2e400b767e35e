import { ControlError } from '../../../client/control-client.ts';
import { attempt } from './resource.ts';
import { client, type ScenarioSummary, sandbox, status } from './session.ts';

export const EXAMPLE = `description: Order 1 cannot be cancelled.
rules:
  - on: cancelOrder
    where: { orderId: 1 }
    reply: { status: 409 }
`;

export function listActive(list: readonly ScenarioSummary[]): readonly string[] {
  return list
    .filter(({ active }) => active !== undefined)
    .sort((a, b) => (a.active ?? 0) - (b.active ?? 0))
    .map(({ name }) => name);
}

export interface ScenarioVersion {
  readonly text: string;
  readonly etag: string | undefined;
}

const DRAFTS = `petstore-mock draft ${sandbox}/`;

export function listDrafts(): readonly string[] {
  const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(DRAFTS));
  return keys.map((key) => key.slice(DRAFTS.length));
}

export function readDraft(name: string): ScenarioVersion | undefined {
  const text = sessionStorage.getItem(DRAFTS + name);
  return text === null ? undefined : JSON.parse(text);
}

export function keepDraft(name: string, draft: ScenarioVersion): void {
  sessionStorage.setItem(DRAFTS + name, JSON.stringify(draft));
}

export function dropDraft(name: string): void {
  sessionStorage.removeItem(DRAFTS + name);
}

/** Without a text and an ETag if the server no longer has it. */
export async function fetchScenario(name: string, signal?: AbortSignal): Promise<ScenarioVersion> {
  try {
    const reply = await client.send('GET /scenarios/{name}', { path: { name }, signal });
    // A text field would replace the line ends.
    const text = (await reply.text()).replaceAll(/\r\n?/g, '\n');
    return { text, etag: reply.headers.get('etag') ?? undefined };
  } catch (error) {
    if (error instanceof ControlError && error.status === 404) return { text: '', etag: undefined };
    throw error;
  }
}

async function putScenario(name: string, text: string, etag?: string): Promise<void> {
  const headers = etag === undefined ? {} : { 'If-Match': etag };
  await client.call('PUT /scenarios/{name}', { path: { name }, body: text, headers });
  saved.set(name, text);
}

/** What this tab has saved, for a server that runs anew. */
export const saved = new Map<string, string>();

export async function saveAgain(names: readonly string[]): Promise<void> {
  const lost = [...saved].filter(([name]) => !names.includes(name));
  await Promise.all(lost.map(([name, text]) => putScenario(name, text)));
}

export async function addScenario(name: string, text: string): Promise<void> {
  const isTaken = (await client.call('GET /scenarios')).some((other) => other.name === name);
  if (isTaken) throw new Error(`There is a scenario ${name} already.`);
  await putScenario(name, text);
}

let switching: Promise<boolean> = Promise.resolve(true);

/** One after the other, and from what the server says: the list that the user sees may be older. */
export function switchActive(done: string, next: (all: readonly string[]) => string[]) {
  const replace = async () => {
    const scenarios = next(listActive(await client.call('GET /scenarios')));
    await client.call('PUT /scenario', { body: { scenarios } });
  };
  switching = switching.then(() => attempt(done, replace));
  return switching;
}

/** What a scenario has put into the store stays there when it goes. */
export function turnScenario(name: string, isOn: boolean) {
  const { animals = 0, inventory = 0, orders = 0 } = status.value?.changed ?? {};
  const kept = animals + inventory + orders > 0 ? ' Changed records stay as they are.' : '';
  const done = isOn ? `Turned on ${name}.` : `Turned off ${name}.${kept}`;
  return switchActive(done, (all) =>
    all.filter((other) => other !== name).concat(isOn ? [name] : []),
  );
}

/** One that is active, or that is to be, then acts as its text says. */
export async function saveScenario(
  name: string,
  text: string,
  { turnOn, etag }: { turnOn: boolean; etag: string | undefined },
): Promise<void> {
  const put = putScenario(name, text, etag);
  const [list] = await Promise.all([client.call('GET /scenarios'), put]);
  const active = listActive(list);
  const scenarios = active.includes(name) || !turnOn ? active : [...active, name];
  if (scenarios.includes(name)) await client.call('PUT /scenario', { body: { scenarios } });
}
