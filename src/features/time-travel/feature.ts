import type { Feature } from '../../server/feature.ts';
import { TIME_TRAVEL_ENDPOINTS } from './endpoints.ts';

/** The states around a recorded call: rewind, undo, replay, and what else it could have got. */
export const TIME_TRAVEL: Feature = { name: 'time-travel', ...TIME_TRAVEL_ENDPOINTS };
