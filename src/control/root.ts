import type { Request, Router } from 'express';
import { BASE_PATH } from '../contract/operations.ts';
import { ROOT } from '../http/target.ts';
import { packageVersion } from '../package.ts';
import { json, redirect } from './endpoint.ts';
import type { ControlParts } from './parts.ts';
import { sendReply } from './send.ts';

/** Redirects browsers from a root to the dashboard, and gives other clients a list of addresses. */
export function serveRoot(router: Router, { noControl = false }: ControlParts): void {
  router.get(ROOT, (request, response) => {
    response.vary('Accept');
    const base = request.baseUrl + request.path.replace(/\/$/, '');
    if (!noControl && prefersHtml(request)) sendReply(response, redirect(302, `${base}/__mock/`));
    else sendReply(response, json(addresses(request, base, noControl)));
  });
}

/** curl accepts any type and gets JSON. */
function prefersHtml(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html';
}

function addresses(request: Request, base: string, noControl: boolean): object {
  const url = `${request.protocol}://${request.get('host') ?? 'localhost'}${base}`;
  const control = `${url}/__mock`;
  return {
    name: 'petstore-mock',
    version: packageVersion(),
    service: url + BASE_PATH,
    health: `${control}/health`,
    ...(!noControl && {
      control,
      dashboard: `${control}/`,
      reference: `${control}/docs`,
      openapi: {
        service: `${control}/service.openapi.json`,
        control: `${control}/openapi.json`,
      },
    }),
  };
}
