import { BASE_URL, hostName, isLoopbackName } from '../../contract/base-url.ts';
import { outcome } from '../../sandbox/answer.ts';
import type { Responder } from '../../sandbox/responder.ts';
import { namedObject, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, FLAG, type InputOf, KEY } from '../../shape/shapes.ts';
import { edit, endpoint } from '../endpoint.ts';
import { type ControlReply, json, NO_CONTENT, refuse } from '../reply.ts';

const UPSTREAM = namedObject('Upstream', {
  url: optional(ANY_TEXT, 'The base URL of the deployment; left out if the mock answers.'),
  ownKey: required(FLAG, "Whether the deployment gets a key in place of the client's."),
});
type UpstreamState = InputOf<typeof UPSTREAM>;

const UPSTREAM_SETTING = namedObject('UpstreamSetting', {
  url: required(BASE_URL, 'The base URL of the deployment.'),
  key: optional(KEY, "Sent to the deployment in place of the client's key."),
  yes: optional(FLAG, 'Consents to sending requests to another machine.'),
});

export const UPSTREAM_ENDPOINTS = [
  endpoint('getUpstream', 'GET /upstream', {
    summary: 'Read which deployment answers',
    replies: { 200: UPSTREAM },
    handle: async ({ sandbox }) => replyWithUpstream(sandbox.state.settings.upstream),
  }),
  endpoint('setUpstream', 'PUT /upstream', {
    summary: 'Let a deployment answer in place of the mock',
    description:
      'Forwards all later requests to the sandbox, until a reset. A URL of another machine needs `yes`.',
    body: { shape: UPSTREAM_SETTING },
    example: { body: { url: 'http://127.0.0.1:4011/v1', key: 'staging-key' } },
    replies: { 200: UPSTREAM },
    handle: async (call) => {
      const { url, key, yes } = call.body;
      if (!yes && !isLoopbackName(hostName(url))) {
        const message = `${url.host} is another machine; send "yes": true`;
        return refuse('invalid_input', 400, message);
      }
      const upstream = call.parts.openResponder?.(url, key);
      if (upstream === undefined) {
        return refuse('route_not_found', 404, 'this mock forwards no requests');
      }
      return edit(call, `set the upstream to ${upstream.url}`, (state) =>
        outcome(state, replyWithUpstream(upstream), { settings: { ...state.settings, upstream } }),
      );
    },
  }),
  endpoint('removeUpstream', 'DELETE /upstream', {
    summary: 'Let the mock answer again',
    replies: { 204: 'The mock answers.' },
    handle: (call) =>
      edit(call, 'removed the upstream', (state) =>
        outcome(state, NO_CONTENT, { settings: { ...state.settings, upstream: undefined } }),
      ),
  }),
];

function replyWithUpstream(upstream: Responder | undefined): ControlReply {
  return json<UpstreamState>({ url: upstream?.url, ownKey: upstream?.key !== undefined });
}
