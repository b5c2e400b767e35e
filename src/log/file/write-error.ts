import { codeOf } from '../../error-code.ts';
import { STORE_LIMIT } from '../../read-text.ts';
import { KeeperError } from '../../sandbox/keeper.ts';

/** Why a mounted file cannot be used. */
export const MOUNT_POINT =
  'it is a mount point, which cannot be replaced; mount its folder instead';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EISDIR: 'it is a folder',
  EFBIG: `it would be larger than ${STORE_LIMIT / 1024 ** 2} MiB, or than the system allows`,
  EBUSY: MOUNT_POINT,
};

/** Says why a file cannot be written. */
export function writeError(path: string, error: unknown): KeeperError {
  if (error instanceof KeeperError) return error;
  const code = codeOf(error) ?? String(error);
  const why = REASONS[code] ?? 'it cannot be written';
  return new KeeperError(`${path}: ${why} (${code})`, { cause: error });
}
