import type { AssumptionState } from '../../control/control-shapes.ts';
import { shortened, visible } from '../parts/visible-text.ts';
import { type Finding, FindingItem, MOST_OF_A_KIND } from './finding-list.tsx';

/** An assumption, and the replies of the deployment that contradict its option. */
export interface AssumptionDrift {
  readonly of: AssumptionState;
  readonly drift: readonly Finding[];
}

/** Whether the deployment answers otherwise, by the check or by its replies. */
export function drifts({ of: { checked, chosen }, drift }: AssumptionDrift): boolean {
  const isOther = checked !== undefined && checked.verdict !== 'open' && checked.option !== chosen;
  return isOther || drift.length > 0;
}

/** What a check of a deployment found out, and which of its replies drifted. */
export function DeploymentAnswers(asked: AssumptionDrift) {
  const { of, drift } = asked;
  return (
    <>
      {drifts(asked) && <span class="badge failed">drift</span>}
      {of.checked !== undefined && <Verdict checked={of.checked} />}
      {drift.length > 0 && (
        <ul>
          {drift.slice(-MOST_OF_A_KIND).map((it) => (
            <FindingItem key={it.exchange} of={it} />
          ))}
        </ul>
      )}
    </>
  );
}

/** Characters of the exchanges that a verdict rests on. */
const MOST_REASON = 500;

function Verdict({ checked }: { readonly checked: NonNullable<AssumptionState['checked']> }) {
  const { deployment, at, verdict, option, why } = checked;
  const answer = option ?? verdict.replaceAll('-', ' ');
  return (
    <p>
      {visible(deployment)}: <code>{visible(answer)}</code>, checked on {at.slice(0, 10)}
      {why !== undefined && <span class="quiet"> ({shortened(visible(why), MOST_REASON)})</span>}
    </p>
  );
}
