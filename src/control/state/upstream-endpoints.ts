import { hostOf } from '../../contract/base-url.ts';
import type { State } from '../../sandbox/state.ts';
import type { Upstream } from '../../sandbox/upstream.ts';
import { BASE_URL, KEY } from '../../shape/deployment-shapes.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { FLAG, named } from '../../shape/shapes.ts';
import { UPSTREAM, type UpstreamState } from '../control-shapes.ts';
import { type ControlReply, DONE, json, type Listed, refuse, withBody } from '../endpoint.ts';
import { isLoopbackName } from '../loopback.ts';

const UPSTREAM_SETTING = named(
  'UpstreamSetting',
  object({
    url: required(BASE_URL, 'The base URL of the deployment.'),
    key: optional(KEY, "Sent to the deployment in place of the client's key."),
    yes: optional(FLAG, 'Agrees to send requests to another machine.'),
  }),
);

const REPLIES = { 200: { description: 'The deployment that answers.', shape: UPSTREAM } };

export const UPSTREAM_ENDPOINTS: readonly Listed[] = [
  {
    id: 'getUpstream',
    route: ['get', '/upstream'],
    summary: 'Read which deployment answers',
    replies: REPLIES,
    handle: ({ sandbox }) => upstreamReply(sandbox.state.settings.upstream),
  },
  withBody({
    id: 'setUpstream',
    route: ['put', '/upstream'],
    summary: 'Let a deployment answer in place of the mock',
    description:
      'Requests to the sandbox are passed on from the next one on, until a reset. A URL of another machine needs `yes`.',
    body: { shape: UPSTREAM_SETTING },
    replies: REPLIES,
    handle: async ({ sandbox, parts, body }) => {
      const { url, key, yes } = body;
      if (!yes && !isLoopbackName(hostOf(url))) {
        const message = `yes: expected true, since ${url.host} is another machine`;
        return refuse('invalid_input', 400, message);
      }
      const upstream = await parts.openUpstream(url, key);
      return sandbox.change((state) => ({
        state: answeredBy(state, upstream),
        result: upstreamReply(upstream),
      }));
    },
  }),
  {
    id: 'removeUpstream',
    route: ['delete', '/upstream'],
    summary: 'Let the mock answer again',
    replies: { 204: { description: 'The mock answers.' } },
    handle: ({ sandbox }) =>
      sandbox.change((state) => ({ state: answeredBy(state, undefined), result: DONE })),
  },
];

function answeredBy(state: State, upstream: Upstream | undefined): State {
  return { ...state, settings: { ...state.settings, upstream } };
}

function upstreamReply(upstream: Upstream | undefined): ControlReply {
  const state: UpstreamState = { url: upstream?.url, ownKey: upstream?.key !== undefined };
  return json(state);
}
