import type { Feature } from '../../server/feature.ts';
import type { BaseOptions } from '../../server/options.ts';
import { DEPLOYMENT_OPTIONS, type UpstreamOptions } from './options.ts';
import { createUpstreams, openUpstreams } from './upstream.ts';

/** Compares the mock with running instances of the real service, and lets them answer. */
export const DEPLOYMENT = {
  name: 'deployment',
  options: DEPLOYMENT_OPTIONS,
  createResponders: createUpstreams,
  openResponders: (options: BaseOptions & UpstreamOptions) => openUpstreams(options),
} as const satisfies Feature;
