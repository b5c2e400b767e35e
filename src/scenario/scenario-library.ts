import { describe, suggest } from '../words.ts';
import { type RuleBook, ruleBook } from './rules.ts';
import type { Scenario } from './scenario.ts';

/** The shipped scenarios, each loaded on its first use. */
export class ScenarioLibrary {
  readonly #books = new Map<string, Promise<RuleBook>>();

  /**
   * Loads scenarios and what they extend, the extended ones first.
   *
   * @param names of shipped scenarios
   * @param written a scenario from a request, which wins over them
   * @throws ScenarioError if a scenario or a fixture does not ship: a request cannot read files
   */
  async load(names: readonly string[], written?: Scenario): Promise<readonly Scenario[]> {
    const { loadShipped, withExtended } = await import('./load-scenario.ts');
    const shipped = await loadShipped(names);
    if (written === undefined) return shipped;
    const known = new Set(shipped.map(({ name }) => name));
    const added = await withExtended(written);
    return [...shipped, ...added.filter(({ name }) => !known.has(name))];
  }

  /** The shipped scenarios. */
  async list(): Promise<readonly { readonly name: string; readonly description: string }[]> {
    const { shippedScenarios } = await import('./load-scenario.ts');
    return shippedScenarios();
  }

  /**
   * The rules of a shipped scenario.
   *
   * @returns the unknown name, with the nearest right one, if there is no such scenario
   */
  async rulesOf(name: string): Promise<RuleBook | { readonly unknown: string }> {
    const names = (await this.list()).map((it) => it.name);
    if (!names.includes(name)) return { unknown: `${describe(name)}${suggest(name, names)}` };
    let book = this.#books.get(name);
    if (book === undefined) {
      book = this.load([name]).then((scenarios) =>
        ruleBook(scenarios.toReversed().flatMap(({ rules }) => rules)),
      );
      this.#books.set(name, book);
    }
    return book;
  }
}
