import type { Feature } from '../../server/feature.ts';
import type { ProgramFeature } from '../../terminal/command.ts';
import { createPages } from './pages.ts';
import { writeReport } from './report.ts';

/** The mock's web page, the reference of the control API, and the report in HTML. */
export const DASHBOARD: Feature & ProgramFeature = {
  name: 'dashboard',
  pages: { paths: { dashboard: '/', reference: '/docs' }, create: createPages },
  reports: { '.html': writeReport },
};
