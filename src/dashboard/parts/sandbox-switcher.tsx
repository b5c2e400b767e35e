import { useEffect, useRef, useState } from 'preact/hooks';
import type { SandboxSummary } from '../../control/control-shapes.ts';
import { DEFAULT_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { useResource } from '../state/resource.ts';
import { controlPath, sandbox } from '../state/session.ts';
import { Button } from './buttons.tsx';
import { Loading } from './loading.tsx';

/** Opens a list of the other sandboxes, with a search. */
export function SandboxSwitcher() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button class="switcher" popovertarget="sandboxes" aria-label={`Sandbox ${sandbox}`}>
        <span class="quiet">Sandbox</span> <b>{sandbox}</b> <span aria-hidden="true">▾</span>
      </Button>
      <div
        id="sandboxes"
        popover="auto"
        class="card"
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && <Offered />}
      </div>
    </>
  );
}

function Offered() {
  const [text, setText] = useState('');
  const query = new URLSearchParams({ q: text.trim(), _limit: '12' });
  const path = `/sandboxes?${query}`;
  const list = useResource<readonly SandboxSummary[]>(path, 0, DEFAULT_SANDBOX);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const [view = ''] = location.hash.split(/(?<=^#\/\w+)\W/);
  const page = /docs$/.test(location.pathname) ? 'docs' : view;
  return (
    <>
      <label class="field">
        Search sandboxes
        <input
          ref={input}
          type="search"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <ul class="rows">
        {list.value?.map(({ name }) => (
          <li key={name}>
            <a
              href={`${controlPath(name)}/${page}`}
              aria-current={name === sandbox ? 'true' : undefined}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
      {list.value === undefined && <Loading resource={list} />}
      {list.value?.length === 0 && <p class="empty">No sandbox has this in its name.</p>}
      <a href="./#/sandboxes">All sandboxes</a>
    </>
  );
}
