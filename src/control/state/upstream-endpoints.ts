import type { Upstream } from '../../sandbox/upstream.ts';
import { BASE_URL_FORM } from '../../sandbox/upstream.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { FLAG, named, text } from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
import { UPSTREAM, type UpstreamState } from '../control-shapes.ts';
import { type ControlReply, DONE, json, type Listed, refuse, withBody } from '../endpoint.ts';
import { isLoopbackName } from '../loopback.ts';
import type { ControlParts } from '../parts.ts';

const VISIBLE = /^[\x21-\x7e]+$/;

const UPSTREAM_SETTING = named(
  'UpstreamSetting',
  object({
    url: required(text(), 'The base URL of the deployment.'),
    key: optional(
      text('a key of visible ASCII characters', VISIBLE, { pattern: VISIBLE.source }),
      "Sent to the deployment in place of the client's key.",
    ),
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
    handle: ({ sandbox }) => upstreamReply(sandbox.upstream),
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
      const upstream = await open(parts, body);
      if ('status' in upstream) return upstream;
      sandbox.upstream = upstream;
      return upstreamReply(upstream);
    },
  }),
  {
    id: 'removeUpstream',
    route: ['delete', '/upstream'],
    summary: 'Let the mock answer again',
    replies: { 204: { description: 'The mock answers.' } },
    handle: ({ sandbox }) => {
      sandbox.upstream = undefined;
      return DONE;
    },
  },
];

interface Setting {
  readonly url: string;
  readonly key?: string | undefined;
  readonly yes?: boolean | undefined;
}

async function open(
  { openUpstream }: ControlParts,
  { url, key, yes }: Setting,
): Promise<Upstream | ControlReply> {
  const upstream = await openUpstream(url, key);
  if (upstream === undefined) {
    return refuse('invalid_input', 400, `url: expected ${BASE_URL_FORM}, found ${describe(url)}`);
  }
  const { hostname, host } = new URL(upstream.url);
  if (yes || isLoopbackName(hostname.replace(/^\[|\]$/g, ''))) return upstream;
  const message = `yes: expected true, since ${host} is another machine and will get the requests`;
  return refuse('invalid_input', 400, message);
}

function upstreamReply(upstream: Upstream | undefined): ControlReply {
  const state: UpstreamState = { url: upstream?.url, ownKey: upstream?.key !== undefined };
  return json(state);
}
