import { LIMITS, SCENARIO_NAME_FORM, SCENARIO_NAME_PATTERN } from '../../limits.ts';
import { outcome } from '../../sandbox/answer.ts';
import { knownScenarios } from '../../sandbox/preference.ts';
import { withEntry } from '../../sandbox/state.ts';
import {
  readSentScenario,
  resolveScenarios,
  scenariosByName,
} from '../../scenario/resolve-scenarios.ts';
import { dropCounters } from '../../scenario/rules.ts';
import { SCENARIO_NAMES, WRITTEN_SCENARIO } from '../../scenario/scenario-names.ts';
import type { SavedScenario, Scenario } from '../../scenario/scenario-shape.ts';
import { ContentError, describe, formatProblem, type TextProblem } from '../../words.ts';
import { type ControlCall, edit } from '../endpoint.ts';
import {
  type ControlReply,
  createEtag,
  json,
  refuse,
  refuseInput,
  refuseOneMore,
} from '../reply.ts';

/**
 * Finds scenarios by name, those that they extend first, and last the one that the request contains.
 *
 * @param sent a text alone is that of a body in JSON
 * @throws ScenarioError
 */
export function findScenarios(
  { sandbox, parts }: Pick<ControlCall, 'sandbox' | 'parts'>,
  names: readonly string[],
  sent?: Scenario | string,
): readonly Scenario[] {
  const text = { name: WRITTEN_SCENARIO, format: 'yaml' as const };
  const written = typeof sent === 'string' ? readSentScenario({ ...text, text: sent }) : sent;
  const source = scenariosByName(parts.platform, knownScenarios(sandbox.state), written);
  return resolveScenarios(written === undefined ? names : [...names, written.name], source);
}

export async function checkScenario(
  call: ControlCall<Pick<SavedScenario, 'text'>>,
): Promise<ControlReply> {
  try {
    findScenarios(call, [], call.body.text);
    return json({ problems: [] });
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return json({ problems: error.problems.slice(0, LIMITS.problems).map(showProblem) });
  }
}

/** A problem of another scenario is at line 1. */
function showProblem(problem: TextProblem) {
  const { file, line = 1, column = 1, message } = problem;
  if (file === WRITTEN_SCENARIO) return { line, column, message };
  return { line: 1, column: 1, message: formatProblem(problem) };
}

export async function saveOwnScenario(
  call: ControlCall<Pick<SavedScenario, 'text' | 'format'>>,
): Promise<ControlReply> {
  const { sandbox } = call;
  const { name = '' } = call.params;
  const { format, text } = call.body;
  if (!SCENARIO_NAME_PATTERN.test(name)) {
    return refuseInput([
      { path: 'scenario name', expected: SCENARIO_NAME_FORM, found: describe(name) },
    ]);
  }
  const started = sandbox.start.scenarios.map((scenario) => scenario.name);
  if ([WRITTEN_SCENARIO, ...SCENARIO_NAMES, ...started].includes(name)) {
    return refuse('already_exists', 409, `the name ${name} is taken: choose another`);
  }
  const resolved = findScenarios(call, [], readSentScenario({ name, text, format }));
  const { description = '' } = resolved.at(-1) ?? {};
  const wanted = call.headers['if-match'];
  return edit(call, `saved the scenario ${name}`, (state) => {
    const { scenarios, counters } = state;
    const saved = scenarios.get(name);
    if (wanted !== undefined && !matchesEtag(String(wanted), saved && createEtag(saved.text))) {
      const change = saved === undefined ? 'deleted' : 'changed';
      const message = `somebody has ${change} the scenario ${name} since you read it`;
      return outcome(state, refuse('changed_meanwhile', 412, message));
    }
    const refusal = refuseOneMore('scenarios', scenarios, name);
    if (refusal !== undefined) return outcome(state, refusal);
    const summary = { name, description, shipped: false, own: true };
    return outcome(state, json(summary, scenarios.has(name) ? 200 : 201), {
      scenarios: withEntry(scenarios, name, { name, description, format, text }),
      counters: { ...counters, rules: dropCounters(counters.rules, 'prefer', name) },
    });
  });
}

/** RFC 9110, 13.1.1. Without a scenario there is no tag, which not even `*` matches. */
function matchesEtag(wanted: string, etag: string | undefined): boolean {
  const tags = wanted.split(',').map((tag) => tag.trim());
  return etag !== undefined && (wanted.trim() === '*' || tags.includes(etag));
}
