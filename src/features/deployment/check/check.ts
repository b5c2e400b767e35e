import { DeploymentError } from '../deployment-client.ts';
import type { DeploymentFlags } from '../flags.ts';
import { DeploymentAsker } from './deployment-asker.ts';
import { Fit } from './fit.ts';
import type { Observation } from './predict.ts';
import type { Sender } from './probe-sender.ts';
import { type CheckReport, createReport } from './report.ts';
import type { SequenceRun } from './sequence-run.ts';

export interface CheckedDeployment {
  readonly report: CheckReport;
  readonly observations: readonly Observation[];
  /** The deployment's time by its `Date` header, in milliseconds since 1970. */
  readonly clock: number;
  /** Limitations of the report, in words. */
  readonly notes: readonly string[];
}

/**
 * Finds out how a deployment answers by asking the mock which choices explain its replies:
 *
 * 1. Run every sequence of probes on the deployment, and reduce each reply to facets.
 * 2. Do so twice. A facet that differs between the two rounds proves nothing.
 * 3. Find the choices under which the mock shows the same facets.
 * 4. Settle an assumption if the replies refute every other option; report what no option allows.
 *
 * @param progress called before each sequence, with its purpose
 * @throws DeploymentError if the deployment cannot be reached, refuses the key or answers nothing
 */
export async function checkDeployment(
  client: Sender,
  flags: DeploymentFlags,
  progress: (text: string) => void = () => {},
): Promise<CheckedDeployment> {
  const asker = new DeploymentAsker(client, flags, progress);
  const first = await asker.runAll();
  const second = await asker.runAll(first);
  const observations = second.map((run, at) => observe([first[at] ?? run, run]));
  requireAnswer(observations);
  const report = createReport(new Fit(observations), flags);
  return { report, observations, clock: asker.clock, notes: [...asker.notes] };
}

function observe(runs: readonly [SequenceRun, SequenceRun]): Observation {
  const [first, { sequence, model, facets }] = runs;
  const seen = sequence.probes.map((_, at) => {
    const both = Object.entries(first.facets[at] ?? {});
    return Object.fromEntries(both.filter(([name, value]) => facets[at]?.[name] === value));
  });
  return { sequence, model, runs, seen };
}

function requireAnswer(observations: readonly Observation[]): void {
  const exchanges = observations.flatMap(({ runs }) => runs.flatMap((run) => run.exchanges));
  if (exchanges.some((it) => it !== undefined && it.probe.key === undefined)) return;
  const reason = observations[0]?.runs[0]?.reason;
  throw new DeploymentError(`no request got an answer from the service: ${reason}`);
}
