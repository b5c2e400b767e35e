import type { Feature } from '../../server/feature.ts';
import { createPages } from './pages.ts';

/** The mock's web page, and the reference of the control API. */
export const DASHBOARD: Feature = {
  name: 'dashboard',
  pages: { paths: { dashboard: '/', reference: '/docs' }, create: createPages },
};
