import type { AddedHandlers } from '../../core/control/endpoint.ts';

export const HAR_ENDPOINTS: AddedHandlers = {
  handlers: { of: ['exportRequests'], load: async () => (await import('./har.ts')).HAR_HANDLERS },
};
