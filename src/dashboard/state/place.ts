import { signal } from '@preact/signals';
import { parseTarget } from '../../http/target.ts';

export const VIEWS = [
  'exchanges',
  'scenarios',
  'store',
  'assumptions',
  'clock',
  'coverage',
  'sandboxes',
  'reference',
] as const;
export type ViewName = (typeof VIEWS)[number];

export function formatTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * What the page shows, from its address after `#`: in `#/exchanges/17?status=409`, a view, the item
 * that it shows in detail, and a query.
 */
function parsePlace(hash: string) {
  const { path, search } = parseTarget(hash.slice(1) || '/');
  const [, name, encoded = ''] = path.split('/');
  const view: ViewName = VIEWS.find((known) => known === name) ?? 'exchanges';
  // Unlike decodeURIComponent, this reads any text.
  const item = new URLSearchParams(`item=${encoded}`).get('item') || undefined;
  return { view, item, query: new URLSearchParams(search) };
}

// The address of the reference alone, as other tools know it.
if (location.pathname.endsWith('/docs')) history.replaceState(null, '', './#/reference');

export const place = signal(parsePlace(location.hash));

function arrive(): void {
  const { view, item, query } = place.value;
  const here = formatHref(view, item, query);
  if (location.hash === here) return;
  if (location.hash.startsWith('#/')) place.value = parsePlace(location.hash);
  // Back from the link that skips to the content: the browser has moved the focus.
  else history.replaceState(null, '', here);
}

addEventListener('hashchange', arrive);

type PlaceQuery = URLSearchParams | Record<string, string>;

export function formatHref(view: ViewName, item?: string, members?: PlaceQuery): string {
  const path = item === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(item)}`;
  const query = new URLSearchParams(members);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Goes to a place, with an entry in the history unless it only steps to a neighbour. */
export function go(view: ViewName, item?: string, query?: PlaceQuery, isStep = false): void {
  const href = formatHref(view, item, query);
  if (isStep) history.replaceState(null, '', href);
  else location.hash = href;
  place.value = parsePlace(href);
}

/**
 * Changes members of the query without a history entry: typing in a filter should leave no trail.
 */
export function refine(changes: Readonly<Record<string, string>>): void {
  const { view, item } = place.value;
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  history.replaceState(null, '', formatHref(view, item, query));
  place.value = { view, item, query };
}
