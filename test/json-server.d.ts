declare module 'json-server' {
  import type { Express, RequestHandler } from 'express';

  export function create(): Express;
  export function router(source: string | object): RequestHandler;
}
