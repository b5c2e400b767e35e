import { signal } from '@preact/signals';
import { parseTarget } from '../../../core/contract/target.ts';
import { notice } from './session.ts';

/** What the address says after `#`: in `#/exchanges/17?status=409`, a view, what it opens, and a query. */
interface PageRoute {
  readonly view: string;
  readonly item?: string | undefined;
  readonly query: URLSearchParams;
}

type RouteQuery = URLSearchParams | Record<string, string>;

export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

function parseRoute(hash: string): PageRoute {
  const { path, search } = parseTarget(hash.slice(1) || '/');
  const [, view, encoded = ''] = path.split('/');
  // Unlike decodeURIComponent, this reads any text.
  const item = new URLSearchParams(`item=${encoded}`).get('item') || undefined;
  return { view: view || 'exchanges', item, query: new URLSearchParams(search) };
}

/** The address of a view in this page. */
export function formatHref(view: string, item?: string | number, members?: RouteQuery): string {
  const path = item === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(item)}`;
  const query = new URLSearchParams(members);
  return query.size === 0 ? path : `${path}?${query}`;
}

// The address of the reference alone, as other tools know it.
if (location.pathname.endsWith('/docs')) history.replaceState(null, '', './#/reference');

export const route = signal(parseRoute(location.hash));

/** What a panel shows, for the title of the tab. */
export const openedTitle = signal<string | undefined>(undefined);

addEventListener('hashchange', () => {
  const { view, item, query } = route.value;
  const here = formatHref(view, item, query);
  if (location.hash === here) return;
  if (location.hash.startsWith('#/')) {
    route.value = parseRoute(location.hash);
    // An action that leads elsewhere keeps its notice; who goes elsewhere has seen it.
    if (route.value.view !== view) notice.value = undefined;
  }
  // Back from the link that skips to the content: the browser has moved the focus.
  else history.replaceState(null, '', here);
});

export function go(view: string, item?: string | number, query?: RouteQuery, isStep = false): void {
  const href = formatHref(view, item, query);
  if (isStep) history.replaceState(null, '', href);
  else location.hash = href;
  route.value = parseRoute(href);
}

type QueryChanges = Readonly<Record<string, string | number | undefined>>;

export function withQuery(changes: QueryChanges): URLSearchParams {
  const query = new URLSearchParams(route.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value === undefined) query.delete(name);
    else query.set(name, String(value));
  }
  return query;
}

/** Changes the query without a history entry: typing in a filter should leave no trail. */
export function refine(changes: QueryChanges): void {
  const { view, item } = route.value;
  const query = withQuery(changes);
  history.replaceState(null, '', formatHref(view, item, query));
  route.value = { view, item, query };
}
