import { ControlError } from '../../../client/control-client.ts';
import { keep, listKept, readKept } from './kept.ts';
import { client, type ScenarioSummary } from './session.ts';
import { choose, status } from './settings.ts';

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

export const listDrafts = () => listKept(draftKey(''));

export function readDraft(name: string): ScenarioVersion | undefined {
  return readKept(draftKey(name));
}

export function keepDraft(name: string, draft: ScenarioVersion | undefined): void {
  keep(draftKey(name), draft);
}

function draftKey(name: string): string {
  return `draft ${name}`;
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
  keepSaved(name, text);
}

const SAVED = 'saved';

/** In characters. */
const MAX_SAVED = 1_000_000;

/** What this tab has saved, for a server that runs anew; of too much, the latest. */
export function readSaved(): ReadonlyMap<string, string> {
  return new Map(readKept<readonly [string, string][]>(SAVED));
}

/** @param text undefined if nothing is to come back */
export function keepSaved(name: string, text: string | undefined): void {
  const others = [...readSaved()].filter(([other]) => other !== name);
  const all = text === undefined ? others : [...others, [name, text] as const];
  while (JSON.stringify(all).length > MAX_SAVED) all.shift();
  keep(SAVED, all);
}

export async function saveAgain(names: readonly string[]): Promise<void> {
  const lost = [...readSaved()].filter(([name]) => !names.includes(name));
  await Promise.all(lost.map(([name, text]) => putScenario(name, text)));
}

export async function addScenario(name: string, text: string): Promise<void> {
  const isTaken = (await client.call('GET /scenarios')).some((other) => other.name === name);
  if (isTaken) throw new Error(`There is a scenario ${name} already.`);
  await putScenario(name, text);
}

let switching: Promise<boolean> = Promise.resolve(true);

/** One after the other, and from what the server says: the list that the user sees may be older. */
function switchActive(
  name: string,
  done: string,
  next: (active: readonly string[]) => readonly string[],
): Promise<boolean> {
  const replace = async () => {
    const scenarios = next(listActive(await client.call('GET /scenarios')));
    await client.call('PUT /scenario', { body: { scenarios } });
  };
  const last = switching;
  const apply = ({ scenarios }: { scenarios: readonly string[] }) => ({
    scenarios: next(scenarios),
  });
  switching = choose(name, apply, done, () => last.then(replace));
  return switching;
}

/** What a scenario has put into the store stays there when it goes. */
export function turnScenario(name: string, isOn: boolean): Promise<boolean> {
  const { animals = 0, inventory = 0, orders = 0 } = status.value?.changed ?? {};
  const kept = animals + inventory + orders > 0 ? ' Changed records stay as they are.' : '';
  const done = isOn ? `Turned on ${name}.` : `Turned off ${name}.${kept}`;
  return switchActive(name, done, (active) => {
    if (active.includes(name) === isOn) return active;
    return isOn ? [...active, name] : active.filter((other) => other !== name);
  });
}

/** Puts a scenario before the one that it came after. */
export function moveScenario(name: string, before: string): Promise<boolean> {
  return switchActive(name, `Moved ${name}.`, (active) => {
    const others = active.filter((other) => other !== name);
    return active.includes(name)
      ? others.toSpliced(Math.max(0, others.indexOf(before)), 0, name)
      : active;
  });
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
