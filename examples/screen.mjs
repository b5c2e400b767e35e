/** A screen of an app that shows animals and orders: the code under test in patience.test.ts. */
export class Screen {
  isLoading = false;
  /** @type {{ id: number, status?: string }[]} */
  animals = [];
  /** @type {{ id: number }[]} */
  orders = [];
  #url;
  #headers;
  #searches = 0;
  #cancelled = new Set();

  /**
   * @param {string} url
   * @param {string} key
   */
  constructor(url, key) {
    this.#url = url;
    this.#headers = { Authorization: `Bearer ${key}` };
  }

  /** @param {string} status */
  async search(status) {
    this.#searches += 1;
    const search = this.#searches;
    this.isLoading = true;
    const reply = await fetch(`${this.#url}/pets?status=${status}`, { headers: this.#headers });
    const animals = await reply.json();
    // The user may have searched for something else since.
    if (search !== this.#searches) return;
    this.animals = animals;
    this.isLoading = false;
  }

  async showOrders() {
    const reply = await fetch(`${this.#url}/store/orders`, { headers: this.#headers });
    /** @type {{ id: number }[]} */
    const orders = await reply.json();
    // The list may be from before a cancellation.
    this.orders = orders.filter(({ id }) => !this.#cancelled.has(id));
  }

  /**
   * Tries again if there is no reply in time.
   * @param {number} id
   * @param {number} patience in milliseconds
   */
  async cancel(id, patience = 5_000) {
    const send = () =>
      fetch(`${this.#url}/store/orders/${id}`, {
        method: 'DELETE',
        headers: this.#headers,
        signal: AbortSignal.timeout(patience),
      });
    const reply = await send().catch(send);
    // The first attempt may have cancelled it, although its reply was lost.
    const isCancelled = reply.ok || (await reply.json()).code === 'order_already_cancelled';
    if (!isCancelled) throw new Error(`Order ${id} cannot be cancelled.`);
    this.#cancelled.add(id);
    this.orders = this.orders.filter((order) => order.id !== id);
  }
}
