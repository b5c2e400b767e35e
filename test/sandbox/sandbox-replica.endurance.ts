import { test } from 'vitest';
import { expectEqualCopies } from '../helpers/sandbox-histories.ts';

test('changes of long histories give an equal sandbox, and undo gives the one before', () =>
  expectEqualCopies(400));
