import { BASE_URL_FORM, baseUrlOf } from '../contract/base-url.ts';
import { scalar, text } from './shapes.ts';

/** The base URL of a deployment. */
export const BASE_URL = scalar(
  BASE_URL_FORM,
  { type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://[^?#@]+$' },
  (value) => (typeof value === 'string' ? baseUrlOf(value) : undefined),
);

/** Characters that a header can have between spaces. */
export const VISIBLE = /^[\x21-\x7e]+$/;

/** An API key. */
export const KEY = text('a key of visible ASCII characters', VISIBLE, { pattern: VISIBLE.source });
