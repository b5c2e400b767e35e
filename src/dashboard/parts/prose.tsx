/** A sentence from the server, in which backquotes mark code. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}
