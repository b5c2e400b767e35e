import { describePresets, OTHER_PAIRS } from '../helpers/preset-grid.ts';

describePresets(OTHER_PAIRS);
