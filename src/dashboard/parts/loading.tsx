import type { Resource } from '../state/resource.ts';
import { visible } from './visible-text.ts';

/** What a view shows until its value is loaded. */
export function Loading({ resource: { error } }: { readonly resource: Resource<unknown> }) {
  return (
    <p class={error === undefined ? 'quiet' : 'problem'} role="status">
      {error === undefined ? 'Loading…' : visible(error)}
    </p>
  );
}
