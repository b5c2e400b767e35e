import type { SandboxSummary } from '../../control/control-shapes.ts';
import { useResource } from '../state/resource.ts';
import { controlPath, DEFAULT_SANDBOX, sandbox } from '../state/session.ts';

/** The others are on the page of sandboxes. */
const MOST_OFFERED = 200;

/** Links to the same view of another sandbox. */
export function SandboxPicker() {
  const { value = [] } = useResource<readonly SandboxSummary[]>('/sandboxes', 0, DEFAULT_SANDBOX);
  const names = value.slice(0, MOST_OFFERED).map(({ name }) => name);
  const known = names.includes(sandbox) ? names : [...names, sandbox];
  return (
    <label class="picker">
      Sandbox{' '}
      <select
        value={sandbox}
        onChange={({ currentTarget }) => {
          const [view = ''] = location.hash.split(/(?<=^#\/\w+)\W/);
          location.href = `${controlPath(currentTarget.value)}/${view}`;
        }}
      >
        {known.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
