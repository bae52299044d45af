/** Detects the encoding of a text file, and converts it to UTF-8. */
import { createReadStream } from 'node:fs';
import { invalidAt, ServiceError, tryTo } from '../../../base/errors.js';

const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface FoundEncoding {
  readonly encoding: Encoding;
  readonly warnings: readonly string[];
}

const CHUNK_BYTES = 64 * 1024;

/**
 * The encoding that the caller names, in any of its usual spellings; else it is detected: by the byte order
 * mark at the beginning, by the zeros of UTF-16, or as UTF-8 if the whole file is valid UTF-8. A file
 * without any UTF-8 sequence counts as Windows-1252, in which every byte is valid. A file that mixes both is
 * rejected, because some of its lines would be garbled in either encoding. Reads the whole file.
 *
 * @throws INVALID_VALUE for an unknown name; MALFORMED_REQUEST with the first line in another encoding than
 *   the others, or than the caller named
 */
export async function findEncoding(path: string, named: string | undefined): Promise<FoundEncoding> {
  const declared = named === undefined ? undefined : parseEncoding(named);
  if (declared !== undefined && declared !== 'utf-8') return { encoding: declared, warnings: [] };
  const utf16 = declared === undefined ? await findUtf16(path) : undefined;
  if (utf16 !== undefined) return { encoding: utf16, warnings: [] };
  if (await isUtf8(path)) return { encoding: 'utf-8', warnings: [] };
  const { line, hasLetters } = await findWrongLine(path);
  if (declared !== undefined) {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Line ${line} is not UTF-8, the encoding you gave. ` +
        'Save the file as UTF-8, or give encoding=windows-1252.',
    );
  }
  if (hasLetters) {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Line ${line} is not UTF-8, though lines before it are: the file mixes two encodings. ` +
        'Save it as UTF-8, or give encoding=windows-1252.',
    );
  }
  const warning = `The file is not UTF-8 (line ${line}) and is read as Windows-1252;`;
  return {
    encoding: 'windows-1252',
    warnings: [`${warning} where letters come out wrong, save it as UTF-8.`],
  };
}

function parseEncoding(name: string): Encoding {
  const label = name
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^utf-?/, 'utf-');
  // Text in ASCII is text in UTF-8, where the standard of encodings takes its name for Windows-1252.
  const declared = label === 'us-ascii' ? 'utf-8' : tryTo(() => new TextDecoder(label).encoding);
  const known = ENCODINGS.find((one) => one === declared);
  if (known) return known;
  throw invalidAt(`No encoding is called ${JSON.stringify(name.slice(0, 40))}.`, {
    detail: 'an unknown encoding',
    parameter: 'encoding',
    expected: ENCODINGS.join(', '),
  });
}

/**
 * The bytes of a file as UTF-8, without the byte order mark. One in UTF-8 was checked when its encoding was
 * found.
 *
 * @throws MALFORMED_REQUEST with the line before the first byte that is invalid in the encoding.
 */
export async function* readAsUtf8(path: string, encoding: Encoding): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') {
    const start = (await startOfFile(path, UTF8_MARK.length)).equals(UTF8_MARK) ? UTF8_MARK.length : 0;
    yield* createReadStream(path, { start, highWaterMark: CHUNK_BYTES });
    return;
  }
  const decoder = new TextDecoder(encoding, { fatal: true });
  let line = 1;
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      const text = decoder.decode(bytes as Buffer, { stream: true });
      line += countLineEnds(text);
      yield Buffer.from(text);
    }
    decoder.decode();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `The text after line ${line} is not ${encoding}, the encoding you gave. Save the file as UTF-8.`,
      { cause },
    );
  }
}

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The first bytes of a file, at most 64 KiB. */
export async function startOfFile(path: string, length: number): Promise<Buffer> {
  for await (const bytes of createReadStream(path, { end: length - 1 })) return bytes as Buffer;
  return Buffer.alloc(0);
}

/** By its mark, or without one: in a table, one byte of two is mostly zero. */
async function findUtf16(path: string): Promise<Encoding | undefined> {
  const sample = await startOfFile(path, 4_096);
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = sample.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : undefined;
}

async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES }))
      decoder.decode(bytes as Buffer, { stream: true });
    decoder.decode();
    return true;
  } catch (fault) {
    if (fault instanceof TypeError) return false;
    throw fault;
  }
}

/** The line of the first byte that is not UTF-8, and whether letters beyond ASCII are before it. */
async function findWrongLine(path: string): Promise<{ line: number; hasLetters: boolean }> {
  const decoder = new TextDecoder();
  let line = 1;
  let hasLetters = false;
  for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    const [right = '', ...wrong] = decoder.decode(bytes as Buffer, { stream: true }).split('\ufffd', 2);
    line += countLineEnds(right);
    hasLetters ||= /\P{ASCII}/u.test(right);
    if (wrong.length > 0) break;
  }
  return { line, hasLetters };
}

/** LF, CRLF or CR end a line. */
function countLineEnds(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}
