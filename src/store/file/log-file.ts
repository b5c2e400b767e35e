import {
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  read,
  renameSync,
  rmSync,
  statSync,
  write,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { tried } from './file-state.ts';
import { syncFolder } from './sync-folder.ts';

const readBytes = promisify(read);
const writeBytes = promisify(write);
const syncData = promisify(fdatasync);

/** Bytes that are copied at once. */
const CHUNK = 256 * 1024;

/** A file that lines are appended to. Starts as a draft beside the file that it will replace. */
export class LogFile {
  readonly #path: string;
  readonly #draft: string;
  readonly #descriptor: number;
  readonly #inode: number;
  #size = 0;
  /** Whether the file may have bytes after its lines. */
  #isTorn = false;

  /** @param mode the permissions of the file */
  constructor(path: string, mode: number | undefined) {
    this.#path = path;
    this.#draft = `${path}.${crypto.randomUUID()}.draft`;
    this.#descriptor = openSync(this.#draft, 'wx+', mode);
    this.#inode = fstatSync(this.#descriptor).ino;
  }

  /** The bytes of all lines. */
  get size(): number {
    return this.#size;
  }

  /** Whether the file still has its name: somebody may have deleted or replaced it. */
  get isInPlace(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /** Appends whole lines. Resolves when they survive a power failure; else none of them is kept. */
  async append(lines: Buffer): Promise<void> {
    if (this.#isTorn) this.#mend();
    this.#isTorn = true;
    try {
      await this.#write(lines);
      await syncData(this.#descriptor);
    } catch (error) {
      // The next append tries again if this fails.
      tried(() => this.#mend());
      throw error;
    }
    this.#isTorn = false;
    this.#size += lines.length;
  }

  /** Copies lines of another log, and those that are appended to it meanwhile. Returns where it ended. */
  async copy(from: LogFile, start: number): Promise<number> {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let offset = start;
    while (offset < from.size) {
      const length = Math.min(CHUNK, from.size - offset);
      const { bytesRead } = await readBytes(from.#descriptor, chunk, 0, length, offset);
      if (bytesRead === 0) throw new Error(`${from.#path} ended at byte ${offset}.`);
      await this.#write(chunk.subarray(0, bytesRead));
      this.#size += bytesRead;
      offset += bytesRead;
    }
    return offset;
  }

  /** Gives the draft its name. `guard` does so only if this server may. */
  async place(guard: (rename: () => void) => void): Promise<void> {
    await syncData(this.#descriptor);
    guard(() => renameSync(this.#draft, this.#path));
    await syncFolder(dirname(this.#path));
  }

  close(): void {
    closeSync(this.#descriptor);
    rmSync(this.#draft, { force: true });
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const rest = bytes.length - done;
      const { bytesWritten } = await writeBytes(
        this.#descriptor,
        bytes,
        done,
        rest,
        this.#size + done,
      );
      done += bytesWritten;
    }
  }

  /** Removes the bytes that a failed append left. */
  #mend(): void {
    ftruncateSync(this.#descriptor, this.#size);
    this.#isTorn = false;
  }
}
