import { ControlError } from '../../../client/control-client.ts';
import { attempt } from './resource.ts';
import { go } from './route.ts';
import { client, keep, listKept, notice, readKept } from './session.ts';
import { choose, status } from './settings.ts';

const EXAMPLE = `description: Order 1 cannot be cancelled.
rules:
  - on: cancelOrder
    where: { orderId: 1 }
    reply: { status: 409 }
`;

async function readActive(): Promise<readonly string[]> {
  return (await client.call('GET /scenario')).scenarios.map(({ name }) => name);
}

export interface ScenarioVersion {
  readonly text: string;
  readonly etag: string | undefined;
}

export const listDrafts = () => listKept('draft ');

export function readDraft(name: string): ScenarioVersion | undefined {
  return readKept(`draft ${name}`);
}

export function keepDraft(name: string, draft: ScenarioVersion | undefined): void {
  keep(`draft ${name}`, draft);
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

/** Creates a scenario and opens it. If the server refuses the text, it is there to be mended. */
export async function createScenario(
  name: string,
  read: () => Promise<string> | string = () => EXAMPLE,
): Promise<boolean> {
  let draft: ScenarioVersion | undefined;
  const isDone = await attempt(`Created ${name}.`, async () => {
    const text = await read();
    draft = { text, etag: undefined };
    if ((await client.call('GET /scenarios')).some((other) => other.name === name)) {
      draft = undefined;
      throw new Error(`There is a scenario ${name} already.`);
    }
    await putScenario(name, text);
    return () => go('scenarios', name);
  });
  if (isDone) return true;
  if (draft !== undefined) keepDraft(name, draft);
  if (notice.value) notice.value = { ...notice.value, text: `${name}: ${notice.value.text}` };
  if (readDraft(name) !== undefined) go('scenarios', name);
  return false;
}

export async function copyScenario(name: string, read: () => Promise<string> | string) {
  const list = await client.call('GET /scenarios').catch(() => []);
  const base = `my-${name.replace(/^my-/, '')}`;
  const isTaken = (copy: string) => list.some((other) => other.name === copy);
  let copy = base;
  for (let number = 2; isTaken(copy); number += 1) copy = `${base}-${number}`;
  return createScenario(copy, read);
}

let switching: Promise<boolean> = Promise.resolve(true);

/** One after the other, and from what the server says: the list that the user sees may be older. */
function switchActive(
  name: string,
  done: string,
  next: (active: readonly string[]) => readonly string[],
): Promise<boolean> {
  const replace = async () => {
    const scenarios = next(await readActive());
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
  const [active] = await Promise.all([readActive(), put]);
  const scenarios = active.includes(name) || !turnOn ? active : [...active, name];
  if (scenarios.includes(name)) await client.call('PUT /scenario', { body: { scenarios } });
}
