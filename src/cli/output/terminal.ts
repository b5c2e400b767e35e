import type { Writable } from 'node:stream';

/** Where a command prints, and who reads it. */
export interface Terminal {
  readonly output: Writable;
  /** For messages that only people read. */
  readonly notices: Writable;
  /** Whether the output is a terminal. */
  readonly interactive: boolean;
  readonly style: Style;
}

/** How text is laid out. */
export interface Style {
  /** Columns. */
  readonly width: number;
  readonly colour: boolean;
}

/** Bounds on the width of tables, in columns. */
const NARROWEST = 80;
const WIDEST = 100;

export function terminalOf(
  output: Writable & { readonly isTTY?: boolean; readonly columns?: number },
  notices: Writable,
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): Terminal {
  const interactive = output.isTTY === true;
  return {
    output,
    notices,
    interactive,
    style: {
      width: Math.min(Math.max(output.columns ?? WIDEST, NARROWEST), WIDEST),
      colour: interactive && !NO_COLOR && TERM !== 'dumb',
    },
  };
}

/** The style of notices, whose stream may differ from the output's. */
export function noticesTerminal({ notices, style }: Terminal): Pick<Terminal, 'notices' | 'style'> {
  const interactive = 'isTTY' in notices && notices.isTTY === true;
  return { notices, style: { ...style, colour: style.colour && interactive } };
}

export function bold(text: string, { colour }: Style): string {
  return colour ? `\u001B[1m${text}\u001B[22m` : text;
}

const COLOURS = { red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36, grey: 90 } as const;

export type Colour = keyof typeof COLOURS;

export function paint(text: string, name: Colour, { colour }: Style): string {
  return colour ? `\u001B[${COLOURS[name]}m${text}\u001B[39m` : text;
}

const CLEAR_LINE = '\r\u001B[K';

/** Shows progress on the current line of a terminal, and nowhere else; an empty text clears it. */
export function progressOn(notices: Writable, command: string): (text: string) => void {
  if (!('isTTY' in notices) || notices.isTTY !== true) return () => {};
  return (text) => notices.write(`${CLEAR_LINE}${text === '' ? '' : `${command}: ${text}`}`);
}
