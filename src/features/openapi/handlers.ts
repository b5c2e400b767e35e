import { type ControlCall, findServiceUrl } from '../../core/control/endpoint.ts';
import { json } from '../../core/control/reply.ts';
import { createControlOpenApi } from './control-openapi.ts';
import { createServiceOpenApi } from './service-openapi.ts';

export const OPENAPI_HANDLERS = {
  async getServiceDocument({ origin, mount, sandbox, parts }: ControlCall) {
    const { choices } = sandbox.state.settings;
    const serverUrl = findServiceUrl(origin + mount);
    return json(createServiceOpenApi({ choices, serverUrl, version: parts.version }));
  },
  async getControlDocument({ origin, mount, sandbox, parts }: ControlCall) {
    const { endpoints, sandboxes, version } = parts;
    const isDefault = sandbox === sandboxes.default;
    const own = endpoints.filter(({ defaultOnly }) => isDefault || defaultOnly !== true);
    return json(createControlOpenApi(own, { serverUrl: origin + mount, version }));
  },
};
