// What the three clients have in common.

const { PETSTORE_MOCK_URL: url, PETSTORE_MOCK_KEY: key } = process.env;

/**
 * Sends a request; where there were too many, again when the reply says.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {string} [token]
 * @returns {Promise<{ status: number, text: string }>}
 */
export async function send(method, path, body, token = key) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { method, headers, ...content });
  const text = await response.text();
  if (response.status !== 429) return { status: response.status, text };
  const wait = Number(response.headers.get('Retry-After'));
  await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  return send(method, path, body, token);
}
