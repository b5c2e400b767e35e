import { test } from 'vitest';
import { expectEqualCopies } from '../helpers/sandbox-histories.ts';

test('changes applied to another copy give an equal sandbox, and undo gives the one before', () =>
  expectEqualCopies(8));
