export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template accepts. Strings are escaped, and lists are written line by line. */
export type Part = string | number | Markup | readonly Part[];

export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: template }, ...parts.map(escapePart)));
}

function escapePart(part: Part): string {
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(escapePart).join('\n') : escapeMarkup(String(part));
}

const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text for XML and HTML, attributes included. Characters that XML cannot hold become U+FFFD. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll(NOT_IN_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
