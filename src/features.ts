import { DASHBOARD } from './features/dashboard/feature.ts';
import { DEPLOYMENT } from './features/deployment/feature.ts';
import type { Feature } from './server/feature.ts';

/** What this build of the mock has besides the core and the server. */
export const FEATURES: readonly Feature[] = [
  DASHBOARD, //
  DEPLOYMENT,
];
