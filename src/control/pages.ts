import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { errorCode } from '../node-errors.ts';
import { packageRoot, packageVersion } from '../package.ts';
import type { ControlParts } from './control-options.ts';
import { type MockRequest, serviceUrl } from './endpoint.ts';
import { type ControlReply, json, refuse, refuseMethod } from './reply.ts';

/** Written by scripts/build-dashboard.mjs, each file compressed. */
const FOLDER = join(packageRoot, 'dist/dashboard');

/** Each page has one address only, since it loads its files relative to it. */
const PAGES = [
  { pattern: /^\/*$/, path: '/', file: 'dashboard.html' },
  { pattern: /^\/docs\/*$/, path: '/docs', file: 'dashboard.html' },
];

/** The names that the build writes; anything else cannot reach the file system. */
const ASSET = /^\/dashboard\/([\w-]{1,100}\.(?:js|css))$/;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
};

/** The page shows untrusted input, so it may only load from and send to this server. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves the dashboard. Their files hold no data and need no token; the pages
 * call the control API like any other client.
 *
 * @returns undefined if the path is neither a page nor a file of one
 */
export async function pageReply({
  request: { method = '', headers },
  mount,
  path,
}: MockRequest): Promise<ControlReply | undefined> {
  const page = PAGES.find(({ pattern }) => pattern.test(path));
  const file = page?.file ?? ASSET.exec(path)?.[1];
  if (file === undefined) return undefined;
  if (method !== 'GET' && method !== 'HEAD') return refuseMethod(method, 'GET, HEAD');
  if (page !== undefined && path !== page.path) {
    return { status: 308, headers: { Location: mount + page.path } };
  }
  return fileReply(file, /\bgzip\b/.test(String(headers['accept-encoding'] ?? '')));
}

async function fileReply(name: string, asIs: boolean): Promise<ControlReply> {
  let compressed: Buffer;
  try {
    compressed = await readFile(join(FOLDER, `${name}.gz`));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    const message = `the dashboard has no ${name}; npm run build builds it`;
    return refuse('route_not_found', 404, message);
  }
  return {
    status: 200,
    mediaType: `${MEDIA_TYPES[extname(name)]}; charset=utf-8`,
    headers: {
      // The names of all other files change with their content.
      'Cache-Control': name.endsWith('.html') ? 'no-cache' : 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      'Content-Security-Policy': POLICY,
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      ...(asIs && { 'Content-Encoding': 'gzip' }),
    },
    content: asIs ? compressed : gunzipSync(compressed),
  };
}

/** Redirects browsers from a root to the dashboard, and gives other clients a list of addresses. */
export function rootReply(
  { request, origin, mount }: MockRequest,
  { noControl = false }: ControlParts,
): ControlReply {
  // curl accepts any type and gets JSON.
  const isBrowser = /\btext\/html\b/i.test(request.headers.accept ?? '');
  const Vary = 'Accept';
  return isBrowser && !noControl
    ? { status: 302, headers: { Vary, Location: `${mount}/` } }
    : json(addresses(origin + mount, noControl), 200, { Vary });
}

function addresses(control: string, noControl: boolean): object {
  return {
    name: 'petstore-mock',
    version: packageVersion(),
    service: serviceUrl(control),
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
