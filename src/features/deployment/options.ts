import { parseBaseUrl } from '../../core/contract/base-url.ts';
import {
  FILE,
  inCode,
  milliseconds,
  type OptionsOf,
  one,
  optionFor,
} from '../../core/shape/option-kinds.ts';
import { KEY, type Shape, scalar } from '../../core/shape/shapes.ts';
import { type BaseOptions, forServeAndExec } from '../../server/options.ts';
import { SAVED_VERDICTS } from './check/saved-verdicts.ts';

const BASE_URL_FORM =
  'a base URL such as https://staging.example.com/v1, without a user, a query or a fragment';

const HTTP = /^https?:\/\/[^\s/?#@\\]+(?:\/[\w.~!$&'()*+,;=:@%-]*)*$/;

const BASE_URL = scalar<URL, string>(
  BASE_URL_FORM,
  { type: 'string', pattern: HTTP.source },
  (value) => (typeof value === 'string' && HTTP.test(value) ? parseBaseUrl(value) : undefined),
);

const CODE_URL: Shape<URL | string> = {
  ...BASE_URL,
  read: (value, at, report) => BASE_URL.read(value instanceof URL ? value.href : value, at, report),
};

export const DEPLOYMENT_DEFAULTS = {
  /** In milliseconds. */
  upstreamTimeout: 30_000,
  patience: 10_000,
  rate: 5,
  unknownStatus: 'pending',
} as const;

export const DEPLOYMENT_OPTIONS = {
  Deployment: {
    /** The base URL of a deployment that answers in place of the mock. */
    upstream: forServeAndExec(
      { ...one('URL', BASE_URL), codeShape: CODE_URL },
      'Forward requests to the deployment with this base URL, and return its replies.',
      { agrees: true },
    ),
    /** The key to send to the deployment in place of the client's. */
    upstreamKey: forServeAndExec(
      one('KEY', KEY),
      "API key to send to the deployment instead of the client's.",
      { agrees: true },
    ),
    /** Milliseconds to wait for the deployment; 30 seconds by default. */
    upstreamTimeout: forServeAndExec(
      milliseconds(1, 600_000),
      'Milliseconds to wait for the deployment before the client gets 504.',
      { default: DEPLOYMENT_DEFAULTS.upstreamTimeout },
    ),
    /** A PEM file with a certificate to trust besides those that Node trusts. */
    cacert: optionFor(
      'serve',
      'exec',
      'check',
      'record',
    )(FILE, 'Also trust this certificate, in PEM.'),
  },
  Config: {
    /** The saved result of `check`, to show beside the assumptions. */
    checked: inCode(SAVED_VERDICTS),
  },
};

export type UpstreamOptions = BaseOptions & OptionsOf<typeof DEPLOYMENT_OPTIONS>;
