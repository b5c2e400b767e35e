import { convert, either, TRUE, text } from '../shape/shapes.ts';

const NAME = /^[\w.-]{1,64}$/;

const EXPECTED_NAME = '1 to 64 of A-Z a-z 0-9 . _ -';

export const HOLD_NAME = text(EXPECTED_NAME, NAME, { pattern: NAME.source });

/** What a rule holds its reply back under: `true` stands for `default`. */
export const HOLD = either(
  convert(TRUE, () => 'default'),
  HOLD_NAME,
  `true, or a name of ${EXPECTED_NAME}`,
);
