import { DEFAULTS } from '../defaults.ts';
import { BASE_PATH } from './operations.ts';

/** The base URL of a server started without flags. */
export const DEFAULT_URL = `http://${DEFAULTS.host}:${DEFAULTS.port}${BASE_PATH}`;
