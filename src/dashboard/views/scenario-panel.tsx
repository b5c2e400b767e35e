import { useEffect, useRef, useState } from 'preact/hooks';
import { ControlError } from '../../client/control-client.ts';
import type { Editor, ScenarioProblem } from '../editor/scenario-editor.ts';
import { Button, ConfirmButton, save } from '../parts/buttons.tsx';
import { Field, NameForm } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { visible } from '../parts/texts.tsx';
import { formatHref, go } from '../state/place.ts';
import { attempt, POLL_INTERVAL_MS, useResource } from '../state/resource.ts';
import {
  findHidingRule,
  fitsForm,
  formatRuleFields,
  formatRules,
  parseScenario,
  type Rule,
  type ScenarioParts,
  setDescription,
} from '../state/rule-fields.ts';
import {
  dropDraft,
  keepDraft,
  readDraft,
  readScenario,
  renameScenario,
  type ScenarioVersion,
  saveScenario,
} from '../state/scenarios.ts';
import { client, notice } from '../state/session.ts';
import { highlight } from './message.tsx';

interface ScenarioPanelProps {
  readonly name: string;
  readonly isActive: boolean;
  readonly onDuplicate: (text: string) => void;
}

const GONE: ScenarioVersion = { text: '', etag: undefined };

export function ScenarioPanel({ name, isActive, onDuplicate }: ScenarioPanelProps) {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const draft = useRef<ScenarioVersion>({ text: '', etag: undefined });
  const [isChanged, setChanged] = useState(false);
  const [problems, setProblems] = useState<readonly ScenarioProblem[]>([]);
  const [parts, setParts] = useState<ScenarioParts>();
  const [isFailed, setFailed] = useState(false);
  const isSaving = useRef(false);
  const theirs = useResource(
    `scenario ${name}`,
    async (signal) => {
      const { etag } = draft.current;
      return { since: etag, ...(await readOrGone(name, signal)) };
    },
    POLL_INTERVAL_MS,
  ).value;

  const take = (next: ScenarioVersion, isSaved: boolean) => {
    draft.current = next;
    if (isSaved) dropDraft(name);
    else keepDraft(name, next);
    setChanged(!isSaved);
  };
  const store = async (turnOn: boolean, { etag } = draft.current) => {
    const { text } = draft.current;
    const done = turnOn ? `Saved ${name}. It is on.` : `Saved ${name}.`;
    isSaving.current = true;
    await attempt(done, async () => {
      await saveScenario(name, text, { turnOn, etag });
      const saved = await readScenario(name);
      const { current } = draft;
      take({ text: current.text, etag: saved.etag }, current.text === saved.text);
    });
    isSaving.current = false;
  };
  const takeTheirs = ({ text, etag }: ScenarioVersion) => {
    editor.current?.replace(text);
    take({ text, etag }, true);
  };
  useEffect(() => {
    const controller = new AbortController();
    const opening = async () => {
      const { openEditor } = await import('../editor/scenario-editor.ts');
      const [schema, loaded] = await Promise.all([
        client.call('GET /scenario-schema').then(Object),
        readOrGone(name),
      ]);
      if (parent.current === null || controller.signal.aborted) return;
      const kept = readDraft(name);
      take(kept ?? loaded, kept === undefined);
      editor.current = openEditor({
        parent: parent.current,
        text: draft.current.text,
        schema,
        check: async (edited) => {
          const body = { text: edited };
          const { problems: found } = await client.call('POST /scenario/check', { body });
          setProblems(found);
          setParts(await parseScenario(edited));
          return found;
        },
        onText: (text) => {
          if (text !== draft.current.text) take({ ...draft.current, text }, false);
        },
        onApply: () => void store(true),
      });
    };
    opening().catch(() => setFailed(true));
    return () => {
      controller.abort();
      editor.current?.close();
    };
  }, [name]);
  const { etag } = draft.current;
  const isNewer = theirs?.since === etag && theirs?.etag !== etag;
  // An answer from before the last save says nothing.
  const other = isNewer && editor.current && !isSaving.current ? theirs : undefined;
  useEffect(() => {
    if (other === undefined || isChanged) return;
    if (other.etag !== undefined) takeTheirs(other);
    else {
      take({ ...draft.current, etag: undefined }, false);
      const text = `The server no longer has ${name}. Its text is still here: you can save it again.`;
      notice.value = { kind: 'failed', text };
    }
  });
  const rename = async (next: string) => {
    const done = `Renamed ${name} to ${next}.`;
    const { text } = draft.current;
    const isDone = await attempt(done, () => renameScenario(name, text, next));
    if (isDone) leave(next);
    return isDone;
  };
  const remove = async () => {
    const path = { name };
    const drop = () => client.call('DELETE /scenarios/{name}', { path });
    if (await attempt(`Deleted ${name}.`, drop)) leave();
  };
  const leave = (next?: string) => {
    dropDraft(name);
    go('scenarios', next);
  };
  return (
    <Panel
      title={name}
      beside={isChanged && <span class="quiet">Not saved; this tab keeps it</span>}
      close="Close"
      onClose={() => go('scenarios')}
    >
      {isFailed && (
        <p class="problem" role="alert">
          The editor could not be loaded.
        </p>
      )}
      {other !== undefined && isChanged && (
        <Conflict
          mine={draft.current.text}
          theirs={other}
          onMine={() => store(false, other)}
          onTheirs={() => (other.etag === undefined ? leave() : takeTheirs(other))}
        />
      )}
      {parts !== undefined && (
        <Field
          key={parts.description}
          name="description"
          label="Description"
          value={parts.description}
          onChange={async ({ currentTarget: { value } }) =>
            editor.current?.replace(await setDescription(draft.current.text, value))
          }
        />
      )}
      <div ref={parent} />
      <ul class="rows" aria-label="Problems">
        {problems.map(({ line, column, message }) => (
          <li key={`${line}:${column}:${message}`}>
            <Button onClick={() => editor.current?.show(line, column)}>Line {line}</Button>
            <span class="problem">{message}</span>
          </li>
        ))}
      </ul>
      <ul class="rows" aria-label="Rules">
        {parts?.rules.map((rule, index) => (
          <li key={index}>
            <span class="grow quiet">
              {visible(formatRules(formatRuleFields(rule)))}
              <HidingRule rules={parts.rules} index={index} />
            </span>
            {fitsForm(rule) && (
              <a href={formatHref('exchanges', 'rule', { scenario: name, rule: String(index) })}>
                Edit rule {index + 1}
              </a>
            )}
          </li>
        ))}
      </ul>
      <div class="bar">
        <Button class="main" onClick={() => store(false)}>
          Save
        </Button>
        {!isActive && <Button onClick={() => store(true)}>Save and turn on</Button>}
      </div>
      <div class="bar">
        <Button onClick={() => onDuplicate(draft.current.text)}>Duplicate</Button>
        <Button onClick={() => save(`${name}.yaml`, draft.current.text)}>Download YAML</Button>
        <ConfirmButton label="Delete" name={`Delete ${name}`} onConfirm={remove}>
          The scenario goes for everyone who uses this sandbox. If it is active, it stays so.
        </ConfirmButton>
      </div>
      <NameForm label="Name" action="Rename" value={name} onName={rename} />
      <p class="quiet">
        Ctrl+Space completes, Ctrl+Enter saves and turns on. The scenario ends with the server:
        download it, or start the server with <code>--scenarios DIR</code>.
      </p>
    </Panel>
  );
}

async function readOrGone(name: string, signal?: AbortSignal): Promise<ScenarioVersion> {
  try {
    return await readScenario(name, signal);
  } catch (error) {
    if (error instanceof ControlError && error.status === 404) return GONE;
    throw error;
  }
}

function HidingRule(props: { readonly rules: readonly Rule[]; readonly index: number }) {
  const hiding = findHidingRule(props.rules, props.index);
  if (hiding === undefined) return null;
  return <b class="problem"> It never applies: rule {hiding + 1} takes its calls.</b>;
}

interface ConflictProps {
  readonly mine: string;
  readonly theirs: ScenarioVersion;
  readonly onMine: () => unknown;
  readonly onTheirs: () => void;
}

function Conflict({ mine, theirs, onMine, onTheirs }: ConflictProps) {
  const isGone = theirs.etag === undefined;
  return (
    <section class="notice failed" role="alert" aria-label="Conflict">
      <p>
        {isGone
          ? 'The server no longer has this scenario: somebody deleted it, or the server restarted.'
          : 'Somebody else has saved this scenario since you opened it.'}{' '}
        Your text is still here.
      </p>
      <div class="bar">
        <Button onClick={onMine}>{isGone ? 'Save mine again' : 'Keep mine'}</Button>
        <Button onClick={onTheirs}>{isGone ? 'Drop mine' : 'Take theirs'}</Button>
      </div>
      {!isGone && (
        <details>
          <summary>Compare</summary>
          <p>Theirs; lines that yours does not have are marked.</p>
          <pre>{highlight(visible(theirs.text), visible(mine))}</pre>
        </details>
      )}
    </section>
  );
}
