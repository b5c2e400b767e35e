import { connection, enterToken } from '../state/session.ts';
import { Field, Form } from './form.tsx';

/** Asks for the control token, which the server requires of callers from other machines. */
export function TokenForm() {
  const problem = connection.value === 'wrong-token' ? 'The server refused this token.' : undefined;
  return (
    <Form
      class="card narrow form"
      onSubmit={(texts) => enterToken(texts.get('token')?.trim() ?? '')}
    >
      <h1>Control token</h1>
      <p>
        The server listens beyond this machine, so its control API needs a token. The server prints
        it when it starts, unless <code>--control-token</code> sets it.
      </p>
      <Field name="token" label="Token" type="password" required problem={problem} />
      <p class="quiet">This tab keeps the token until you close it.</p>
      <button type="submit">Use this token</button>
    </Form>
  );
}
