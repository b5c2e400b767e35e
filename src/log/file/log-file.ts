import {
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { codeOf } from '../../node-errors.ts';
import { STORE_LIMIT } from '../../read-text.ts';
import { KeeperError } from '../../sandbox/keeper.ts';
import { replaceFile, tryTo } from '../../store/file/files.ts';

const syncData = promisify(fdatasync);

/** A file that lines are appended to. */
export class LogFile {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #inode: number;
  #size: number;
  /** Whether the file has nothing after its lines. */
  #isWhole = true;

  private constructor(path: string, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
    const { ino, size } = fstatSync(descriptor);
    this.#inode = ino;
    this.#size = size;
  }

  /**
   * Creates a file with lines in place of another, which other servers may have open.
   *
   * @param place renames the draft, or throws
   */
  static async create(
    path: string,
    lines: Buffer,
    mode: number,
    place: (draft: string) => void,
  ): Promise<LogFile> {
    let descriptor = -1;
    await replaceFile(path, [lines], mode, (draft) => {
      descriptor = openSync(draft, 'a');
      place(draft);
    }).catch((error: unknown) => {
      if (descriptor >= 0) closeSync(descriptor);
      throw error;
    });
    return new LogFile(path, descriptor);
  }

  /** The bytes of all lines. */
  get size(): number {
    return this.#size;
  }

  /** Whether lines can be appended. Somebody may have deleted or replaced the file. */
  get isUsable(): boolean {
    const stats = statSync(this.#path, { throwIfNoEntry: false });
    return this.#isWhole && stats?.ino === this.#inode;
  }

  /**
   * Resolves when a line would survive a power failure. Rejects if it was not kept.
   *
   * @param confirm called when the line is written; throws to take it back
   */
  async append(line: Buffer, confirm?: () => void): Promise<void> {
    try {
      for (let done = 0; done < line.length; ) done += writeSync(this.#descriptor, line, done);
      await syncData(this.#descriptor);
      confirm?.();
    } catch (error) {
      this.#isWhole = false;
      tryTo(() => {
        ftruncateSync(this.#descriptor, this.#size);
        this.#isWhole = true;
      });
      throw error;
    }
    this.#size += line.length;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

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
