interface Swept {
  readonly runs: readonly {
    readonly assumption: string;
    readonly option: string;
    readonly verdict: string;
    readonly findings: readonly object[];
  }[];
  readonly untouched: readonly string[];
  readonly decidedByScenario: readonly string[];
  readonly notRun: readonly object[];
}

/** The report that `sweep --json` printed. */
export function readSwept({ stdout }: { readonly stdout: string }): Swept {
  return JSON.parse(stdout);
}
