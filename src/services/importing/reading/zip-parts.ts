/** Opens the parts of a zip file by name, within limits that a zip bomb exceeds. */
import type { Readable } from 'node:stream';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ServiceError } from '../../../base/errors.js';
import { reasonOfDamage } from '../../../base/text/reason-of-damage.js';

/** The limits of a workbook. */
const ZIP_LIMITS = {
  maxEntries: 10_000,
  /** All parts, unpacked: 4 GiB. */
  maxUnpackedBytes: 4 * 1024 ** 3,
  /** The most that a part may grow when unpacked; sheets grow some 20 times. */
  maxRatio: 250,
  /** The ratio is not checked for smaller parts: 1 MiB. */
  minRatioBytes: 1024 ** 2,
} as const;

/** An open zip file; close it. */
export class ZipParts implements AsyncDisposable {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /**
   * Reads the directory of the file, and judges by it: of what a part comes to beyond what the directory
   * says, nothing is read.
   *
   * @throws MALFORMED_REQUEST where it is no zip file, LIMIT_EXCEEDED
   */
  static async open(path: string): Promise<ZipParts> {
    const file = await openPromise(path, { lazyEntries: true, autoClose: false }).catch((cause: unknown) => {
      throw damaged(cause);
    });
    try {
      const entries = new Map<string, Entry>();
      let unpackedBytes = 0;
      if (file.entryCount > ZIP_LIMITS.maxEntries) throw tooManyEntries(file.entryCount);
      for await (const entry of file.eachEntry()) {
        unpackedBytes += entry.uncompressedSize;
        assertNoBomb(entry, unpackedBytes);
        entries.set(entry.fileName.replace(/^\//, ''), entry);
      }
      return new ZipParts(file, entries);
    } catch (cause) {
      file.close();
      throw cause instanceof ServiceError ? cause : damaged(cause);
    }
  }

  /** The paths of all parts, without the copies that macOS adds. */
  names(): readonly string[] {
    return [...this.#entries.keys()].filter((name) => !name.startsWith('__MACOSX/'));
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** The bytes of a part, unpacked as they are asked for. @throws MALFORMED_REQUEST */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (!entry)
      throw new ServiceError('MALFORMED_REQUEST', `The workbook has no part ${name}; save it again.`);
    let stream: Readable | undefined;
    try {
      stream = await this.#file.openReadStreamPromise(entry);
      yield* stream as AsyncIterable<Buffer>;
    } catch (cause) {
      throw cause instanceof ServiceError ? cause : damaged(cause);
    } finally {
      stream?.destroy();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#file.close();
  }
}

function assertNoBomb(entry: Entry, unpackedBytes: number): void {
  const { fileName, compressedSize, uncompressedSize } = entry;
  const { maxRatio, minRatioBytes, maxUnpackedBytes } = ZIP_LIMITS;
  if (uncompressedSize > minRatioBytes && uncompressedSize > compressedSize * maxRatio) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `${fileName} in the workbook is packed ` +
        `${Math.round(uncompressedSize / Math.max(1, compressedSize))} times ` +
        `smaller than it is; at most ${maxRatio} times is read. Save the sheet as CSV.`,
    );
  }
  if (unpackedBytes > maxUnpackedBytes) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `The workbook is larger than ${maxUnpackedBytes} bytes unpacked, the most that is read. ` +
        'Save the sheet as CSV.',
    );
  }
}

function tooManyEntries(entries: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `The workbook has ${entries} parts; at most ${ZIP_LIMITS.maxEntries} are read. Save the sheet as CSV.`,
  );
}

function damaged(cause: unknown): ServiceError {
  const detail = `The workbook is damaged (${reasonOfDamage(cause)}); save it again.`;
  return new ServiceError('MALFORMED_REQUEST', detail, { cause });
}
