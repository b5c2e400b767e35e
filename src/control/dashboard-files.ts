import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Request, Response, Router } from 'express';
import { codeOf } from '../error-code.ts';
import { packageRoot } from '../package.ts';
import { redirect, refuse } from './endpoint.ts';
import { refuseMethod, sendReply } from './send.ts';

/** Written by scripts/build-dashboard.mjs, each file compressed. */
const FOLDER = join(packageRoot, 'dist/dashboard');

const PAGE = 'index.html';

const REFERENCE = 'reference.html';

/** The names that the build writes; anything else cannot reach the file system. */
const ASSET = /^[\w-]{1,100}\.(?:js|css)$/;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
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
 * Serves the dashboard and the API reference. Their files hold no data and need no token; the pages
 * call the control API like any other client. Nothing is read before the first request.
 */
export function serveDashboard(api: Router): void {
  const files = new DashboardFiles();
  // Each page has one address only, since it loads its files relative to it.
  const serve = (path: string, page: string): void => {
    api.get(path, async (request, response) => {
      const { baseUrl, originalUrl } = request;
      const address = baseUrl + path;
      const [asked = ''] = originalUrl.split('?', 1);
      if (asked.endsWith(address)) await files.send(request, response, page);
      else sendReply(response, redirect(308, address));
    });
    api.all(path, refuseMethod('GET, HEAD'));
  };
  serve('/', PAGE);
  serve('/docs', REFERENCE);
  api.get('/dashboard/:file', async (request, response, next) => {
    const { file } = request.params;
    if (ASSET.test(file)) await files.send(request, response, file);
    else next();
  });
}

class DashboardFiles {
  /** The compressed files, by name. */
  readonly #read = new Map<string, Promise<Buffer>>();

  async send(request: Request, response: Response, name: string): Promise<void> {
    let compressed: Buffer;
    try {
      compressed = await this.#file(name);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      const message = `the dashboard has no ${name}; npm run build builds it`;
      sendReply(response, refuse('route_not_found', 404, message));
      return;
    }
    const asIs = request.acceptsEncodings('gzip') === 'gzip';
    const body = asIs ? compressed : await uncompressed(compressed);
    response.set({
      'Content-Type': MEDIA_TYPES[extname(name)],
      'Content-Length': String(body.length),
      // The names of all other files change with their content.
      'Cache-Control': name.endsWith('.html') ? 'no-cache' : 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      'Content-Security-Policy': POLICY,
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      ...(asIs && { 'Content-Encoding': 'gzip' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  #file(name: string): Promise<Buffer> {
    let file = this.#read.get(name);
    if (file === undefined) {
      file = readFile(join(FOLDER, `${name}.gz`));
      this.#read.set(name, file);
      // A later request may find the files built.
      file.catch(() => this.#read.delete(name));
    }
    return file;
  }
}

/** Off the main thread: the largest file takes some 15 ms. */
function uncompressed(bytes: Buffer): Promise<Buffer> {
  // Imported on demand: few clients need it, and a static import would slow every start.
  const { gunzip } = process.getBuiltinModule('node:zlib');
  return new Promise((resolve, reject) => {
    gunzip(bytes, (error, body) => (error === null ? resolve(body) : reject(error)));
  });
}
