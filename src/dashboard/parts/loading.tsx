import type { ComponentChildren } from 'preact';
import type { Resource } from '../state/resource.ts';
import { visible } from './texts.tsx';

/** What a view shows until its value is loaded. */
export function Loading({ resource: { error } }: { readonly resource: Resource<unknown> }) {
  return (
    <p class={error === undefined ? 'quiet' : 'problem'} role="status">
      {error === undefined ? 'Loading…' : visible(error)}
    </p>
  );
}

/** Shows a value once it is loaded. */
export function Loaded<T>(props: {
  readonly of: Resource<T>;
  readonly children: (value: NonNullable<T>) => ComponentChildren;
}) {
  const { value } = props.of;
  return value === undefined || value === null ? (
    <Loading resource={props.of} />
  ) : (
    props.children(value)
  );
}
