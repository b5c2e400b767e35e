import { BASE_URL_FORM, baseUrlOf } from '../contract/base-url.ts';
import { scalar, text } from './shapes.ts';

const HTTP = /^https?:\/\/[^\s/?#@\\]+(?:\/[\w.~!$&'()*+,;=:@%-]*)*$/;

/** The base URL of a deployment. */
export const BASE_URL = scalar(BASE_URL_FORM, { type: 'string', pattern: HTTP.source }, (value) =>
  typeof value === 'string' && HTTP.test(value) ? baseUrlOf(value) : undefined,
);

/** Characters that a header can have between spaces. */
export const VISIBLE = /^[!-~]+$/;

/** An API key. */
export const KEY = text('a key of visible ASCII characters', VISIBLE, { pattern: VISIBLE.source });
