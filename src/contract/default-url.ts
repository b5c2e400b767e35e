import { DEFAULTS } from '../defaults.ts';
import { BASE_PATH } from './operations.ts';

/** The service's base URL where a server was started without flags. */
export const DEFAULT_URL = `http://${DEFAULTS.host}:${DEFAULTS.port}${BASE_PATH}`;
