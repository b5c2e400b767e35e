import { client, type ScenarioSummary, sandbox } from './session.ts';

export const EXAMPLE = `description: Order 1 cannot be cancelled.
rules:
  - on: cancelOrder
    where: { orderId: 1 }
    reply: { status: 409 }
`;

/** The names of the active scenarios, the last of which wins. */
export function listActive(list: readonly ScenarioSummary[]): readonly string[] {
  return list
    .filter((it) => it.active !== undefined)
    .sort((a, b) => (a.active ?? 0) - (b.active ?? 0))
    .map(({ name }) => name);
}

export interface ScenarioVersion {
  readonly text: string;
  /** Undefined for one that nobody has saved. */
  readonly etag: string | undefined;
}

function draftKey(name: string): string {
  return `petstore-mock draft ${sandbox}/${name}`;
}

/** What was typed into the editor of a scenario and not saved. The tab keeps it. */
export function readDraft(name: string): ScenarioVersion | undefined {
  const text = sessionStorage.getItem(draftKey(name));
  return text === null ? undefined : JSON.parse(text);
}

export function keepDraft(name: string, draft: ScenarioVersion): void {
  sessionStorage.setItem(draftKey(name), JSON.stringify(draft));
}

export function dropDraft(name: string): void {
  sessionStorage.removeItem(draftKey(name));
}

export async function readScenario(name: string, signal?: AbortSignal): Promise<ScenarioVersion> {
  const reply = await client.send('GET /scenarios/{name}', { path: { name }, signal });
  return { text: await reply.text(), etag: reply.headers.get('etag') ?? undefined };
}

/** @param etag the version that it replaces */
function putScenario(name: string, text: string, etag?: string): Promise<unknown> {
  const headers = etag === undefined ? {} : { 'If-Match': etag };
  return client.call('PUT /scenarios/{name}', { path: { name }, body: text, headers });
}

export async function addScenario(name: string, text: string): Promise<void> {
  const isTaken = (await client.call('GET /scenarios')).some((it) => it.name === name);
  if (isTaken) throw new Error(`There is a scenario ${name} already.`);
  await putScenario(name, text);
}

interface SaveOptions {
  readonly turnOn: boolean;
  readonly etag: string | undefined;
}

/** Saves a scenario. One that is active, or that is to be, then acts as its text says. */
export async function saveScenario(
  name: string,
  text: string,
  { turnOn, etag }: SaveOptions,
): Promise<void> {
  await putScenario(name, text, etag);
  const active = listActive(await client.call('GET /scenarios'));
  const scenarios = active.includes(name) || !turnOn ? active : [...active, name];
  if (scenarios.includes(name)) await client.call('PUT /scenario', { body: { scenarios } });
}

/** Gives a scenario another name, under which it stays as active as it was. */
export async function renameScenario(name: string, text: string, next: string): Promise<void> {
  await addScenario(next, text);
  const active = listActive(await client.call('GET /scenarios'));
  const scenarios = active.map((other) => (other === name ? next : other));
  if (active.includes(name)) await client.call('PUT /scenario', { body: { scenarios } });
  await client.call('DELETE /scenarios/{name}', { path: { name } });
}
