/** What a run found out, for a terminal, for programs, as JUnit XML and as a page. */
export interface Report {
  readonly title: string;
  /** The whole result, for programs. */
  readonly document: object;
  readonly intro: readonly Prose[];
  readonly tiles: readonly Tile[];
  readonly grid?: Grid;
  readonly sections: readonly Section[];
  readonly summary: readonly string[];
  readonly footer?: Prose;
}

export type Prose = string;

export interface Tile {
  readonly name: string;
  readonly shown: number;
  readonly total: number;
}

/** A table of counts that shows everything at a glance, on the page only. */
export interface Grid {
  readonly caption: string;
  readonly columns: readonly (string | number)[];
  readonly rows: readonly {
    readonly name: string;
    readonly detail: string;
    readonly cells: readonly (GridCell | undefined)[];
  }[];
}

interface GridCell {
  readonly count: number;
  /** Whether a count of 0 is a gap. */
  readonly wanted: boolean;
  readonly title: string;
  /** The row that says how to fill the gap, by its title. */
  readonly row: string;
}

export interface Section {
  readonly title: string;
  /**
   * - `table`: a line for each row, and a card for each that has output.
   * - `cards`: only the cards.
   * - `names`: only the titles of the rows.
   */
  readonly layout: 'table' | 'cards' | 'names';
  readonly columns?: readonly string[];
  readonly rows: readonly ReportRow[];
  readonly none?: string;
  /** The suite of the rows in JUnit; they are left out without one. */
  readonly suite?: string;
}

export interface ReportRow {
  /** What the row is called where it stands alone. */
  readonly title: string;
  /** The cells of its line. The one at `tonedCell` says how it went. */
  readonly cells?: readonly string[];
  readonly tonedCell?: number;
  readonly tone?: Tone | undefined;
  /** What it is about; on the page only. */
  readonly about?: readonly Prose[];
  /** What a card shows as it is, such as a command or what was printed. */
  readonly output?: readonly string[];
  readonly test?: TestResult;
}

export type Tone = 'green' | 'red' | 'yellow' | 'grey';

export interface TestResult {
  readonly group: string;
  readonly name: string;
  readonly verdict: 'passed' | 'failure' | 'skipped';
  readonly message?: string | undefined;
  readonly output?: readonly string[];
  readonly seconds?: number;
}
