import { StorageError } from '../../core/sandbox/storage-error.ts';
import { errorCode } from '../../core/thrown.ts';

const REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EACCES: 'no permission to write in its folder',
  EPERM: 'no permission to write in its folder',
  EROFS: 'the file system is read-only',
  EBUSY: 'it is a mount point, which cannot be replaced: mount its folder instead',
};

export function writeError(path: string, error: unknown): StorageError {
  const code = errorCode(error) ?? '';
  const why = REMEDIES[code] ?? (error instanceof Error ? error.message : String(error));
  return new StorageError(`${path}: ${why}${code && ` (${code})`}`, { cause: error });
}
