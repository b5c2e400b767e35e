import { codeOf } from '../../error-code.ts';
import { STORE_LIMIT } from '../../read-text.ts';

/** A store's file cannot be used. The message says why. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EISDIR: 'it is a folder',
  EFBIG: `a store of more than ${STORE_LIMIT / 1024 ** 2} MiB could not be read again`,
  EBUSY: 'it is a mount point, which cannot be replaced; mount its folder instead',
};

/** Says why a file cannot be written. */
export function unwritable(path: string, error: unknown): StoreFileError {
  if (error instanceof StoreFileError) return error;
  const code = codeOf(error) ?? String(error);
  const why = REASONS[code] ?? 'it cannot be written';
  return new StoreFileError(`${path}: ${why} (${code})`, { cause: error });
}
