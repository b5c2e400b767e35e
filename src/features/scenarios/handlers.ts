import { hashOf } from '../../core/bytes.ts';
import { type ControlCall, edit } from '../../core/control/endpoint.ts';
import {
  type ControlReply,
  json,
  NO_CONTENT,
  refuse,
  refuseInput,
  refuseOneMore,
} from '../../core/control/reply.ts';
import { findScenarios, MEDIA_TYPES } from '../../core/control/settings/own-scenario-endpoints.ts';
import { SCENARIO_NAME_FORM, SCENARIO_NAME_PATTERN } from '../../core/limits.ts';
import { outcome } from '../../core/sandbox/answer.ts';
import { type State, withEntry } from '../../core/sandbox/state.ts';
import { dropCounters } from '../../core/scenario/rules.ts';
import {
  isShipped,
  SCENARIO_NAMES,
  scenarioText,
  WRITTEN_SCENARIO,
} from '../../core/scenario/scenario-names.ts';
import type { SavedScenario } from '../../core/scenario/scenario-shape.ts';
import { describe, suggest } from '../../core/words.ts';

export const OWN_SCENARIO_HANDLERS = {
  async getScenarioSource({ sandbox, parts, params: { name = '' } }: ControlCall) {
    const shipped = isShipped(name) ? scenarioText(parts.platform, name) : undefined;
    const saved = sandbox.state.scenarios.get(name);
    const { format, text } = saved ?? { format: 'yaml', text: shipped };
    if (text === undefined) return refuseScenario(sandbox.state, name);
    const mediaType = MEDIA_TYPES[format];
    return { status: 200, mediaType, headers: { ETag: createEtag(text) }, content: text };
  },
  async saveScenario(call: ControlCall<Pick<SavedScenario, 'text' | 'format'>>) {
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
    const resolved = await findScenarios(call, [], { name, text, format });
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
  },
  deleteScenario: (call: ControlCall) =>
    edit(call, `deleted the scenario ${call.params.name}`, (state) => {
      const { name = '' } = call.params;
      if (state.scenarios.has(name)) {
        const scenarios = withEntry(state.scenarios, name, undefined);
        const rules = dropCounters(state.counters.rules, 'prefer', name);
        const counters = { ...state.counters, rules };
        return outcome(state, NO_CONTENT, { scenarios, counters });
      }
      if (!isShipped(name)) return outcome(state, refuseScenario(state, name));
      const message = `${name} ships and cannot be deleted`;
      return outcome(state, refuse('cannot_be_deleted', 409, message));
    }),
};

function refuseScenario({ scenarios }: State, name: string): ControlReply {
  const hint = suggest(name, [...SCENARIO_NAMES, ...scenarios.keys()]);
  const message = `${describe(name)} is neither a saved nor a shipped scenario${hint}`;
  return refuse('not_found', 404, message);
}

function createEtag(text: string): string {
  return `"${hashOf(text)}"`;
}

/** Compares `If-Match` (RFC 9110, section 13.1.1). Without a scenario, not even `*` matches. */
function matchesEtag(wanted: string, etag: string | undefined): boolean {
  const tags = wanted.split(',').map((tag) => tag.trim());
  return etag !== undefined && (wanted.trim() === '*' || tags.includes(etag));
}
