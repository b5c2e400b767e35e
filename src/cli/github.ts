import { appendFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { asError } from '../core/thrown.ts';
import { formatNotice, type Terminal } from '../terminal/terminal.ts';

/** A place in a file that a run says something about. */
export interface FileNote {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
}

/** GitHub keeps 1 MiB of what a step writes; a later command of the step may need the rest. */
const MAX_SUMMARY = 256 * 1024;

/** Where GitHub Actions runs the program: appends to the summary of the step, and annotates files. */
export async function reportToGitHub(
  { variables, notices }: Pick<Terminal, 'variables' | 'notices'>,
  markdown: string,
  note?: FileNote,
): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file, GITHUB_WORKSPACE: root = '.' } = variables;
  if (!file) return;
  if (note !== undefined) notices.write(formatAnnotation(note, root));
  await appendFile(file, `\n${markdown.slice(0, MAX_SUMMARY)}\n`).catch((error) => {
    notices.write(formatNotice(`cannot write GITHUB_STEP_SUMMARY: ${asError(error).message}`));
  });
}

/** Escapes text as workflow commands do (github.com/actions/toolkit, core/src/command.ts). */
export function formatAnnotation({ file, line, message }: FileNote, root: string): string {
  const encode = (text: string, characters: RegExp) =>
    text.replaceAll(characters, (one) => encodeURIComponent(one));
  const path = relative(root, resolve(file)).replaceAll('\\', '/');
  const at = `file=${encode(path, /[%\r\n:,]/g)},line=${line}`;
  return `::warning ${at}::${encode(message, /[%\r\n]/g)}\n`;
}

/** @param rows of text, which can come from a client */
export function renderMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]) {
  const [first = [], ...rest] = [head, ...rows].map((row) => row.map(escapeMarkdown));
  const lines = [first, first.map(() => '---'), ...rest];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Writes signs as character references, which have no meaning in Markdown. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} ./=,;()%+-]/gu, (one) => `&#${one.codePointAt(0)};`);
}
