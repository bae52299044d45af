/** Detects the encoding of a text file, and converts it to UTF-8. */
import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { ServiceError } from '../../../base/errors.js';

const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface FoundEncoding {
  readonly encoding: Encoding;
  readonly warnings: readonly string[];
}

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Detects the encoding: by the byte order mark at the beginning, by the zeros of UTF-16, or as UTF-8 if the
 * whole file is valid UTF-8. A file without any UTF-8 sequence counts as Windows-1252, in which every byte
 * is valid. A file that mixes both is rejected, because some of its lines would be garbled in either
 * encoding. Reads the whole file.
 *
 * @throws MALFORMED_REQUEST with the first line in another encoding than the others.
 */
export async function findEncoding(path: string): Promise<FoundEncoding> {
  let isFirst = true;
  let hasLetters = false;
  const lines = new LineCount();
  for await (const chunk of utf8Chunks(path)) {
    if (isFirst) {
      const marked = markedEncoding(chunk.bytes) ?? zerosEncoding(chunk.bytes);
      if (marked) return { encoding: marked, warnings: [] };
      isFirst = false;
    }
    if (isUtf8(chunk.bytes)) {
      hasLetters ||= !isAscii(chunk.bytes);
      lines.pass(chunk.bytes);
      continue;
    }
    const wrong = firstWrongByte(chunk.bytes);
    lines.pass(chunk.bytes.subarray(0, wrong));
    hasLetters ||= !isAscii(chunk.bytes.subarray(0, wrong));
    if (hasLetters) throw mixed(lines.line);
    return {
      encoding: 'windows-1252',
      warnings: [
        `The file is not UTF-8 (line ${lines.line}) and is read as Windows-1252; ` +
          'where letters come out wrong, save it as UTF-8.',
      ],
    };
  }
  return { encoding: 'utf-8', warnings: [] };
}

/** The encoding that a caller names, in any of its usual spellings. @throws INVALID_VALUE */
export function parseEncoding(name: string): Encoding {
  const known = SPELLINGS[name.toLowerCase().replaceAll('_', '-')];
  if (known) return known;
  throw new ServiceError('INVALID_VALUE', `No encoding is called ${JSON.stringify(name.slice(0, 40))}.`, {
    errors: [{ detail: 'an unknown encoding', parameter: 'encoding', expected: ENCODINGS.join(', ') }],
  });
}

const SPELLINGS: Readonly<Record<string, Encoding>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  'utf-16': 'utf-16le',
  'utf-16le': 'utf-16le',
  utf16le: 'utf-16le',
  'utf-16be': 'utf-16be',
  utf16be: 'utf-16be',
  'windows-1252': 'windows-1252',
  cp1252: 'windows-1252',
  latin1: 'windows-1252',
  'iso-8859-1': 'windows-1252',
};

/**
 * The bytes of a file as UTF-8, without the byte order mark.
 *
 * @throws MALFORMED_REQUEST with the line of the first byte that is invalid in the encoding.
 */
export async function* readAsUtf8(path: string, encoding: Encoding): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') yield* checkedUtf8(path);
  else yield* converted(path, encoding);
}

async function* checkedUtf8(path: string): AsyncGenerator<Buffer> {
  const lines = new LineCount();
  let isFirst = true;
  for await (const chunk of utf8Chunks(path)) {
    if (!isUtf8(chunk.bytes)) {
      lines.pass(chunk.bytes.subarray(0, firstWrongByte(chunk.bytes)));
      throw new ServiceError(
        'MALFORMED_REQUEST',
        `Line ${lines.line} is not UTF-8, as the file is said to be. Save the file as UTF-8, ` +
          'or say encoding=windows-1252.',
      );
    }
    lines.pass(chunk.bytes);
    const hasMark = isFirst && chunk.bytes.subarray(0, 3).equals(UTF8_MARK);
    isFirst = false;
    yield hasMark ? chunk.bytes.subarray(3) : chunk.bytes;
  }
}

async function* converted(path: string, encoding: Encoding): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const lines = new LineCount();
  const decode = (bytes?: Buffer): Buffer => {
    try {
      return Buffer.from(bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode());
    } catch (cause) {
      throw new ServiceError(
        'MALFORMED_REQUEST',
        `What follows line ${lines.line} is not ${encoding}, as the file is said to be. ` +
          'Save the file as UTF-8.',
        { cause },
      );
    }
  };
  for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    const text = decode(bytes as Buffer);
    lines.pass(text);
    yield text;
  }
  const rest = decode();
  if (rest.length > 0) yield rest;
}

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function markedEncoding(bytes: Buffer): Encoding | undefined {
  if (bytes.subarray(0, 3).equals(UTF8_MARK)) return undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** Detects UTF-16 without a mark: in a table, one byte of two is mostly zero. */
function zerosEncoding(bytes: Buffer): Encoding | undefined {
  const sample = bytes.subarray(0, 4_096);
  let even = 0;
  let odd = 0;
  for (let at = 0; at + 1 < sample.length; at += 2) {
    if (sample[at] === 0) even += 1;
    if (sample[at + 1] === 0) odd += 1;
  }
  const most = sample.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  if (even > most && odd === 0) return 'utf-16be';
  return undefined;
}

/** The chunks of a file. No chunk ends within a character of UTF-8. */
async function* utf8Chunks(path: string): AsyncGenerator<{ readonly bytes: Buffer }> {
  let carried: Buffer = Buffer.alloc(0);
  for await (const read of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    const bytes = carried.length > 0 ? Buffer.concat([carried, read as Buffer]) : (read as Buffer);
    const whole = bytes.length - unfinishedBytes(bytes);
    carried = bytes.subarray(whole);
    if (whole > 0) yield { bytes: bytes.subarray(0, whole) };
  }
  if (carried.length > 0) yield { bytes: carried };
}

/** The number of bytes at the end that begin a character which the next chunk completes. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < lengthOfCharacter(byte) ? back : 0;
  }
  return 0;
}

function lengthOfCharacter(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}

/** Finds the first invalid byte by bisection. */
function firstWrongByte(bytes: Buffer): number {
  let right = 0;
  let wrong = bytes.length;
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    const isRight = isUtf8(bytes.subarray(0, middle - unfinishedBytes(bytes.subarray(0, middle))));
    if (isRight) right = middle;
    else wrong = middle;
  }
  return right - unfinishedBytes(bytes.subarray(0, right));
}

function mixed(line: number): ServiceError {
  return new ServiceError(
    'MALFORMED_REQUEST',
    `Line ${line} is not UTF-8, though lines before it are: the file mixes two encodings. ` +
      'Save it as UTF-8, or say which one it is by encoding=windows-1252.',
  );
}

/** The line of the next byte. LF, CRLF or CR end a line. */
class LineCount {
  line = 1;
  #endedInReturn = false;

  pass(bytes: Buffer): void {
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) this.line += 1;
    if (bytes.length === 0) return;
    for (let at = bytes.indexOf(CARRIAGE_RETURN); at >= 0; at = bytes.indexOf(CARRIAGE_RETURN, at + 1)) {
      const isPair = at + 1 < bytes.length ? bytes[at + 1] === NEWLINE : true;
      if (!isPair) this.line += 1;
    }
    // The carriage return at the end of the last chunk was counted as the first half of a CRLF.
    if (this.#endedInReturn && bytes[0] !== NEWLINE) this.line += 1;
    this.#endedInReturn = bytes[bytes.length - 1] === CARRIAGE_RETURN;
  }
}
