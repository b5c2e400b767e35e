import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { ReplyOf } from '../../client/control-client.ts';
import { completeFrom } from './schema-completion.ts';

export type ScenarioProblem = ReplyOf<'POST /scenario/check'>['problems'][number];

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly schema: object;
  readonly check: (text: string) => Promise<readonly ScenarioProblem[]>;
  readonly onText: (text: string) => void;
  readonly onApply: () => void;
}

export type Editor = ReturnType<typeof openEditor>;

/** Milliseconds without a keystroke before the text is checked. */
const CHECK_DELAY_MS = 300;

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--link)' },
  { tag: tags.comment, color: 'var(--quiet)' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--quiet)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--paper)', fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', minHeight: '16rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--link)' },
  '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--quiet)', border: 'none' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--blue-soft) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--card)',
    color: 'var(--ink)',
    border: '1px solid var(--edge)',
    maxWidth: '30rem',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
});

export function openEditor({ parent, text, schema, ...options }: EditorOptions) {
  // In a shadow tree, CodeMirror adopts its style sheets. Elsewhere it writes a <style> element,
  // which the page's policy forbids.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const apply = () => {
    options.onApply();
    return true;
  };
  const check = async ({ state: { doc } }: EditorView) =>
    createDiagnostics(doc, await options.check(doc.toString()));
  const state = EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      yaml(),
      syntaxHighlighting(COLOURS),
      autocompletion({ override: [completeFrom(schema)] }),
      linter(check, { delay: CHECK_DELAY_MS }),
      lintGutter(),
      // Tab leaves the editor, as everywhere on the page.
      keymap.of([
        { key: 'Mod-Enter', run: apply },
        ...defaultKeymap,
        ...historyKeymap,
        ...completionKeymap,
        ...lintKeymap,
      ]),
      EditorView.contentAttributes.of({ 'aria-label': 'Scenario in YAML', spellcheck: 'false' }),
      EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
        if (docChanged) options.onText(doc.toString());
      }),
      EditorView.lineWrapping,
      EditorView.domEventHandlers({ beforeinput: replaceSelected }),
      THEME,
    ],
  });
  const view = new EditorView({ state, parent: root, root });
  view.focus();
  return {
    close: () => view.destroy(),
    replace: (whole: string) => {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: whole } });
    },
    /** Puts the cursor to a place, both counted from 1. */
    show: (line: number, column: number) => {
      view.dispatch({
        selection: { anchor: findOffset(view.state.doc, line, column) },
        scrollIntoView: true,
      });
      view.focus();
    },
  };
}

/** Chromium would keep the style of what is typed over in an attribute, which the policy forbids. */
function replaceSelected({ inputType, data }: InputEvent, view: EditorView): boolean {
  const isTyped = inputType === 'insertText' && data !== null && !view.composing;
  if (!isTyped || view.state.selection.main.empty) return false;
  view.dispatch({ ...view.state.replaceSelection(data), userEvent: 'input.type' });
  return true;
}

function createDiagnostics(doc: Text, problems: readonly ScenarioProblem[]): Diagnostic[] {
  return problems.map(({ line, column, message }) => {
    const from = findOffset(doc, line, column);
    const { to } = doc.lineAt(from);
    const [word = ''] = /^[^\s,{}[\]]+/.exec(doc.sliceString(from, to)) ?? [];
    return { from, to: from + word.length, severity: 'error', message };
  });
}

function findOffset(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(from + column - 1, to);
}
