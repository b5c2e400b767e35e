import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, download } from '../parts/buttons.tsx';
import { typeIn, useCompletion } from '../parts/completion.tsx';
import { Panel } from '../parts/panel.tsx';
import { Rows } from '../parts/table.tsx';
import { LineDifference, visible } from '../parts/texts.tsx';
import { complete } from '../state/completion.ts';
import { attempt, sayPlace, useDebounced, usePolled, useResource } from '../state/resource.ts';
import { formatHref, go } from '../state/route.ts';
import { describeRule, findHiddenRules, loadSchema, readRules } from '../state/rules.ts';
import {
  copyScenario,
  fetchScenario,
  keepDraft,
  keepSaved,
  readDraft,
  type ScenarioVersion,
  saveScenario,
} from '../state/scenarios.ts';
import { client, notice } from '../state/session.ts';
import { status } from '../state/settings.ts';

export function ScenarioPanel({ name }: { readonly name: string }) {
  const shown = useSignal(readDraft(name));
  const [isChanged, setChanged] = useState(shown.value !== undefined);
  const isBusy = useSignal(false);
  const loaded = usePolled(`scenario ${name}`, async (signal) => {
    const since = shown.value?.etag;
    return { since, ...(await fetchScenario(name, signal)) };
  });
  const theirs = loaded.value;
  const show = (next: ScenarioVersion, isSaved: boolean) => {
    shown.value = next;
    keepDraft(name, isSaved ? undefined : next);
    setChanged(!isSaved);
  };
  const type = (text: string) => {
    // It speaks of another text.
    if (notice.value?.kind === 'failed') notice.value = undefined;
    show({ text, etag: shown.value?.etag }, false);
  };
  const run = async (done: string, action: () => Promise<unknown>) => {
    isBusy.value = true;
    await attempt(done, action);
    isBusy.value = false;
  };
  const store = async (turnOn: boolean, base = shown.value) => {
    if (isBusy.value) return;
    const text = shown.value?.text ?? '';
    const what = `${name}, ${text.trimEnd().split('\n').length} lines`;
    await run(turnOn ? `Saved ${what}. It is on.` : `Saved ${what}.`, async () => {
      await saveScenario(name, text, { turnOn, etag: base?.etag });
      const saved = await fetchScenario(name);
      const typed = shown.value?.text ?? '';
      show({ text: typed, etag: saved.etag }, typed === saved.text);
    });
  };
  const leave = () => {
    keepDraft(name, undefined);
    keepSaved(name, undefined);
    go('scenarios');
  };
  // An answer from before the last save says nothing.
  const isNewer = theirs?.since === shown.value?.etag && theirs?.etag !== shown.value?.etag;
  const other = isNewer && !isBusy.value ? theirs : undefined;
  useEffect(() => {
    if (other === undefined || isChanged) return;
    // What the server no longer has stays, as if it had been typed.
    if (other.etag !== undefined) show(other, true);
    else if (shown.value !== undefined) show(shown.value, false);
  });
  const remove = () =>
    run(`Deleted ${name}.`, () =>
      client.call('DELETE /scenarios/{name}', { path: { name } }).then(() => leave),
    );
  return (
    <Panel
      title={name}
      beside={
        <span class="quiet" role="status">
          {isBusy.value ? 'Saving…' : isChanged && 'Not saved; this tab keeps it'}
        </span>
      }
      onClose={() => go('scenarios')}
      of={{ ...loaded, value: shown.value }}
    >
      {({ text }) => (
        <>
          {other !== undefined && isChanged && (
            <Conflict
              mine={text}
              theirs={other}
              onMine={() => store(false, other)}
              onTheirs={() => (other.etag === undefined ? leave() : show(other, true))}
            />
          )}
          <Editor name={name} text={text} onText={type} onApply={() => void store(true)} />
          <div class="bar">
            <Button class="main" label="Save" onClick={() => store(false)} />
            {!status.value?.scenarios.includes(name) && (
              <Button label="Save and turn on" onClick={() => store(true)} />
            )}
            <Button label="Duplicate" onClick={() => copyScenario(name, () => text)} />
            <Button label="Download YAML" onClick={() => download(`${name}.yaml`, text)} />
            <Button
              label="Delete"
              of={name}
              confirm="The scenario goes for everyone who uses this sandbox. If it is active, it stays so."
              onClick={remove}
            />
          </div>
          <p class="quiet">
            Ctrl+Space lists what can stand here, and Ctrl+Enter saves and turns on. The scenario
            ends with the server: download it, or start the server with <code>--scenarios DIR</code>
            .
          </p>
        </>
      )}
    </Panel>
  );
}

const CHECK_DELAY_MS = 300;

interface EditorProps {
  readonly name: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onApply: () => void;
}

/** A text area over its own text in colours, with the numbers of its lines and its mistakes. */
function Editor({ name, text, onText, onApply }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const mirror = useRef<HTMLPreElement>(null);
  const completion = useCompletion(area, mirror, async () => {
    const [schema, list] = await Promise.all([loadSchema(), client.call('GET /scenarios')]);
    const names = list.map((other) => other.name);
    return (written, caret) => complete(written, caret, schema, names);
  });
  const settled = useDebounced(text, CHECK_DELAY_MS);
  const checked = useResource(settled, async (signal) => {
    const body = { text: settled };
    return { ...(await client.call('POST /scenario/check', { body, signal })), of: settled };
  });
  const isChecking = checked.value?.of !== settled && checked.error === undefined;
  const isSlow = useDebounced(isChecking, CHECK_DELAY_MS);
  const { problems = [] } = checked.value ?? {};
  const rules = readRules(settled);
  const wrong = settled === text ? problems : [];
  const show = (line: number, column: number) => {
    const before = text.split('\n').slice(0, line - 1);
    const at = before.reduce((length, { length: own }) => length + own + 1, 0) + column - 1;
    area.current?.setSelectionRange(at, at);
    area.current?.focus();
  };
  return (
    <>
      <div class="code">
        <pre ref={mirror} aria-hidden="true">
          {text.split('\n').map((line, index) => (
            <Line key={index} text={line} wrong={wrong.find((one) => one.line === index + 1)} />
          ))}
        </pre>
        <textarea
          ref={area}
          aria-label="Scenario in YAML"
          spellcheck={false}
          value={text}
          {...completion.attributes}
          onInput={({ currentTarget: { value } }) => {
            onText(value);
            completion.follow();
          }}
          onKeyDown={(event) => {
            const { key, ctrlKey, metaKey, currentTarget } = event;
            if (completion.take(event) || key !== 'Enter') return;
            if (ctrlKey || metaKey) onApply();
            else {
              event.preventDefault();
              typeIn(`\n${indentationAt(currentTarget)}`);
            }
          }}
        />
      </div>
      {completion.list}
      <p class="hint" role="status">
        {isChecking && isSlow && 'Checking…'}
      </p>
      <Rows of={problems} keyOf={(problem) => JSON.stringify(problem)} label="Problems">
        {({ line, column, message }) => (
          <button type="button" class="link problem" onClick={() => show(line, column)}>
            line {line}, column {column}: {visible(sayPlace(message))}
          </button>
        )}
      </Rows>
      <p class="problem">{findHiddenRules(rules).join(' ')}</p>
      <Rows
        of={problems.length > 0 ? [] : rules}
        keyOf={(rule) => rules.indexOf(rule)}
        label="Rules"
      >
        {(rule, index) => (
          <>
            <span class="grow quiet">{visible(describeRule(rule))}</span>
            <a href={formatHref('exchanges', 'rule', { scenario: name, rule: String(index) })}>
              Edit rule {index + 1}
            </a>
          </>
        )}
      </Rows>
    </>
  );
}

/** That of the line with the caret; what follows the first key of an item stands below it. */
function indentationAt({ value, selectionStart }: HTMLTextAreaElement): string {
  const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart);
  const [start = ''] = /^ *(?:- +(?=["*\w]+ *:))*/.exec(line) ?? [];
  return start.replaceAll('-', ' ');
}

/** A comment, a key, a string, a number or a constant, or anything else. */
const TOKEN =
  /(#.*)|([\w.*-]+(?=\s*:(?:\s|$)))|("[^"]*"|'[^']*')|\b(\d+(?:\.\d+)?|true|false|null)\b|(?:[^#"'\w]+|\w+|.)/g;

const KINDS = ['', 'quiet', 'forced', 'done', 'assumed'] as const;

function Line({ text, wrong }: { text: string; wrong: { column: number } | undefined }) {
  const right = text.slice(0, wrong && wrong.column - 1);
  const tokens = [...right.matchAll(TOKEN)].map(([token, ...parts], index) => (
    <span key={index} class={KINDS[parts.findIndex((part) => part !== undefined) + 1]}>
      {token}
    </span>
  ));
  return (
    <span class="line">
      {tokens}
      {wrong && <span class="wrong">{text.slice(right.length) || ' '}</span>}
      {'\n'}
    </span>
  );
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
        <Button label={isGone ? 'Save mine again' : 'Keep mine'} onClick={onMine} />
        <Button
          label={isGone ? 'Drop mine' : 'Take theirs'}
          confirm="What you typed goes. Nothing brings it back."
          onClick={onTheirs}
        />
      </div>
      {!isGone && (
        <details>
          <summary>Compare</summary>
          <p>From yours to theirs:</p>
          <LineDifference before={visible(mine)} after={visible(theirs.text)} />
        </details>
      )}
    </section>
  );
}
