import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { refuse, refuseMethod } from '../../core/control/reply.ts';
import type { CreatePages } from '../../server/feature.ts';
import { packageRoot } from '../../server/files.ts';
import { sendControlReply } from '../../server/http/control-request.ts';

/** Written by scripts/build.mjs: the page and its assets. */
export const PAGE_FOLDER = join(packageRoot, 'dist/features/dashboard');

/** Each page has one address only, since it loads its files relative to it. */
const PAGES = [
  { pattern: /^\/*$/, path: '/', file: 'index.html' },
  { pattern: /^\/docs\/*$/, path: '/docs', file: 'index.html' },
];

/** The names that the build writes; anything else cannot reach the file system. */
const ASSET = /^\/assets\/[\w-]{1,100}\.(?:js|css)$/;

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

/** Serves the dashboard, whose files hold no data and need no token. */
export const createPages: CreatePages = (express) => {
  const serveFile = express.static(PAGE_FOLDER, { cacheControl: false, index: false, setHeaders });
  return ({ path, mount }, request, response, next) => {
    const page = PAGES.find(({ pattern }) => pattern.test(path));
    const file = page?.file ?? ASSET.exec(path)?.[0].slice(1);
    if (file === undefined) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendControlReply(response, refuseMethod(request.method, 'GET, HEAD'));
    } else if (page !== undefined && path !== page.path) {
      sendControlReply(response, {
        status: 308,
        headers: { Location: mount + page.path },
      });
    } else {
      request.url = `/${file}`;
      serveFile(request, response, (error) => {
        const message = `the dashboard has no ${file}; npm run build builds it`;
        if (error === undefined)
          sendControlReply(response, refuse('route_not_found', 404, message));
        else next(error);
      });
    }
    return true;
  };
};

function setHeaders(response: ServerResponse, file: string): void {
  const isPage = extname(file) === '.html';
  const headers = {
    // The names of all other files change with their content.
    'Cache-Control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    // The build has compressed all files but the page.
    ...(!isPage && { 'Content-Encoding': 'gzip' }),
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
