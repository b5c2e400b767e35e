import { findServiceUrl, type Handlers } from '../../core/control/endpoint.ts';
import { ENDPOINTS } from '../../core/control/endpoints.ts';
import { json } from '../../core/control/reply.ts';
import { createControlOpenApi } from './control-openapi.ts';
import { createServiceOpenApi } from './service-openapi.ts';

export const OPENAPI_HANDLERS: Handlers = {
  getServiceDocument: {
    handle: async ({ origin, mount, sandbox, parts }) => {
      const { choices } = sandbox.state.settings;
      const serverUrl = findServiceUrl(origin + mount);
      return json(createServiceOpenApi({ choices, serverUrl, version: parts.version }));
    },
  },
  getControlDocument: {
    handle: async ({ origin, mount, sandbox, parts }) => {
      const isDefault = sandbox === parts.sandboxes.default;
      const endpoints = ENDPOINTS.filter(({ defaultOnly }) => isDefault || defaultOnly !== true);
      return json(
        createControlOpenApi(endpoints, { serverUrl: origin + mount, version: parts.version }),
      );
    },
  },
};
