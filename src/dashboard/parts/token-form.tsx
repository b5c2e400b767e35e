import { useEffect, useRef } from 'preact/hooks';
import { connection, enterToken } from '../state/session.ts';

/** Asks for the control token, which the server requires of callers from other machines. */
export function TokenForm() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const wrong = connection.value === 'wrong-token';
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        const token = input.current?.value.trim() ?? '';
        if (token !== '') enterToken(token);
      }}
    >
      <h1>Control token</h1>
      <p>
        The server listens beyond this machine, so its control API needs a token. The server prints
        it when it starts, unless <code>--control-token</code> sets it.
      </p>
      {wrong && (
        <p class="problem" role="alert">
          The server refused this token.
        </p>
      )}
      <label>
        Token
        <input ref={input} type="password" autocomplete="off" required aria-invalid={wrong} />
      </label>
      <p class="quiet">This tab keeps the token until you close it.</p>
      <button type="submit">Use this token</button>
    </form>
  );
}
