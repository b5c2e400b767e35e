import type { Feature } from '../../server/feature.ts';
import { createUpstreams } from './upstream.ts';

/** Compares the mock with running instances of the real service, and lets them answer. */
export const DEPLOYMENT: Feature = {
  name: 'deployment',
  createResponders: createUpstreams,
};
