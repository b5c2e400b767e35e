/** A small client of the pet store service: the code under test in these examples. */
export class PetstoreClient {
  #url;
  #headers;

  /**
   * @param {string} url
   * @param {string} key
   */
  constructor(url, key) {
    this.#url = url;
    this.#headers = { Authorization: `Bearer ${key}` };
  }

  /**
   * Retries once if the service is unavailable, when `Retry-After` says.
   * @returns {Promise<{ id: number, name: string, status?: string }[]>}
   */
  async animals() {
    let reply = await fetch(`${this.#url}/pets`, { headers: this.#headers });
    if (reply.status === 503) {
      const seconds = Number(reply.headers.get('Retry-After'));
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      reply = await fetch(`${this.#url}/pets`, { headers: this.#headers });
    }
    if (!reply.ok) throw new Error(`The service answered with ${reply.status}.`);
    return reply.json();
  }

  /**
   * @param {number} orderId
   * @returns {Promise<'cancelled' | 'shipped' | 'unknown'>}
   */
  async cancel(orderId) {
    const init = { method: 'DELETE', headers: this.#headers };
    const { status } = await fetch(`${this.#url}/store/orders/${orderId}`, init);
    if (status === 204) return 'cancelled';
    if (status === 409) return 'shipped';
    if (status === 404) return 'unknown';
    throw new Error(`The service answered with ${status}.`);
  }
}
