import { basename, extname } from 'node:path';
import { describe, suggest } from '../words.ts';
import { type RuleBook, ruleBook } from './rules.ts';
import type { Scenario } from './scenario.ts';

/** The shipped scenarios, each loaded on its first use. */
export class ScenarioLibrary {
  readonly #books = new Map<string, Promise<RuleBook>>();

  /**
   * Loads scenarios and what they extend, the extended ones first.
   *
   * @param names of shipped scenarios, or of those in `own`
   * @param written a scenario from a request, which wins over them
   * @param own loaded scenarios by name, which win over shipped ones of the same name
   * @throws ScenarioError if a scenario or a fixture does not ship: a request cannot read files
   */
  async load(
    names: readonly string[],
    written?: Scenario,
    own: ReadonlyMap<string, Scenario> = new Map(),
  ): Promise<readonly Scenario[]> {
    const { loadShipped, withExtended } = await import('./load-scenario.ts');
    const shipped = await loadShipped(names.filter((name) => !own.has(name)));
    const known = new Map([...shipped.map((it) => [it.name, it] as const), ...own]);
    const loaded = new Map<string, Scenario>();
    const add = (name: string): void => {
      const scenario = known.get(name);
      if (scenario === undefined || loaded.has(name)) return;
      for (const path of scenario.extends) add(basename(path, extname(path)));
      loaded.set(name, scenario);
    };
    for (const name of names) {
      loaded.delete(name);
      add(name);
    }
    if (written === undefined) return [...loaded.values()];
    const added = await withExtended(written);
    return [...loaded.values(), ...added.filter(({ name }) => !loaded.has(name))];
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
