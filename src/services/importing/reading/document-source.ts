/** Rows of JSON: of a list, of lines, or of consecutive documents, in plain or extended JSON. */

import { ServiceError } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, parseAsWritten } from '../../../base/json/json.js';
import { isNestedDeeply, MAX_JSON_DEPTH } from '../../../base/json/json-depth.js';
import { findEncoding, parseEncoding, readAsUtf8 } from './encoding.js';
import { toPlainDocument } from './plain-document.js';
import {
  inBatches,
  type NumberedBytes,
  type RowSource,
  type SourceFile,
  type SourceLimits,
  type SourceOptions,
  type SourceRow,
} from './row-source.js';

/**
 * Opens a file of documents. NDJSON has one document on each line; an invalid line is a row with a fault.
 * JSON is a list, an object with a list `data`, or consecutive documents. Extended JSON may have either
 * layout.
 *
 * A document is parsed when it is its turn. The memory holds at most one chunk and one document of the file.
 */
export async function openJsonSource(
  file: SourceFile,
  options: SourceOptions & {
    readonly format: 'json' | 'ndjson' | 'ejson';
    readonly layout: 'lines' | 'values';
  },
  limits: SourceLimits,
): Promise<RowSource> {
  const { encoding, warnings } = options.encoding
    ? { encoding: parseEncoding(options.encoding), warnings: [] }
    : await findEncoding(file.path);
  const rowOf = (number: number, json: string): SourceRow => {
    const parsed = parseDocument(json);
    // Malformed JSON, or JSON that is not an object, is a row with a fault.
    if (typeof parsed === 'string') return faultyRow(number, parsed, json);
    return options.format === 'ejson' ? rowOfDocument(number, parsed) : { number, values: parsed };
  };
  const split = options.layout === 'lines' ? splitJsonLines : splitJsonValues;
  return {
    format: options.format,
    encoding,
    warnings,
    rows: (signal) =>
      inBatches(
        split(readAsUtf8(file.path, encoding), limits),
        ({ number, bytes }) => rowOf(number, bytes.toString()),
        { ...limits, signal },
      ),
  };
}

/** The row of a document of MongoDB. */
export function rowOfDocument(number: number, document: Readonly<Record<string, unknown>>): SourceRow {
  const { values, alterations } = toPlainDocument(document);
  return alterations.length === 0 ? { number, values } : { number, values, alterations };
}

/** Longer texts are left out of the list of refused rows. */
const MAX_SOURCE_LENGTH = 16_384;

/** The list of refused rows contains the text of the document, so that it can be corrected. */
function faultyRow(number: number, fault: string, json: string): SourceRow {
  const source = json.trim();
  const isShort = source.length <= MAX_SOURCE_LENGTH;
  return { number, values: {}, fault, isMalformed: true, ...(isShort && { source: [source] }) };
}

/** Returns the document, or a text that says what is wrong. */
function parseDocument(json: string): JsonObject | string {
  if (isNestedDeeply(json)) return `the document is nested deeper than ${MAX_JSON_DEPTH} levels`;
  try {
    const parsed = parseAsWritten(json);
    return isJsonObject(parsed) ? parsed : 'a JSON object is expected here, {"field": value, …}';
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `this is no JSON (${error.message}); a JSON object is expected here`;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);
/** The member whose list holds the rows, and the most bytes and chunks in which it is looked for. */
const NAME_OF_LIST = /(?<!\\)"data"\s*:\s*$/;
const MOST_BEFORE_LIST = 256;
const MOST_CHUNKS = 16;

/**
 * The values of a text: the elements of its list, those of the list `data` of its object, or otherwise
 * consecutive values. Each batch holds the values that end in one chunk.
 *
 * @throws LIMIT_EXCEEDED if a value is too long, MALFORMED_REQUEST if the text ends within a value or has
 * other characters between two values, with the line
 */
async function* splitJsonValues(
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): AsyncGenerator<readonly NumberedBytes[]> {
  const splitter = new ValueSplitter(limits);
  for await (const chunk of chunks) yield splitter.push(chunk);
  yield splitter.end();
}

/**
 * The lines of a text that are not blank, with their numbers. Each batch holds the lines that end in one
 * chunk.
 *
 * @throws LIMIT_EXCEEDED if a line is too long
 */
async function* splitJsonLines(
  chunks: AsyncIterable<Buffer>,
  { maxLineLength }: SourceLimits,
): AsyncGenerator<readonly NumberedBytes[]> {
  let carried: Buffer[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of chunks) {
    const lines: NumberedBytes[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      if (length + rest.length > maxLineLength) throw tooLong(number, maxLineLength);
      const bytes = carried.length > 0 ? Buffer.concat([...carried, rest]) : rest;
      if (!isBlank(bytes)) lines.push({ number, bytes });
      carried = [];
      length = 0;
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) carried.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > maxLineLength) throw tooLong(number, maxLineLength);
    yield lines;
  }
  const last = Buffer.concat(carried);
  if (!isBlank(last)) yield [{ number, bytes: last }];
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace);
}

function tooLong(line: number, maxLineLength: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `What begins on line ${line} is longer than ${maxLineLength} bytes, the most of a document. Divide it.`,
  );
}

/** What may come next: a value, or the end of the list of values. After that end no value may follow. */
type Place = 'start' | 'sequence' | 'value' | 'comma' | 'behind';

class ValueSplitter {
  readonly #maxLength: number;
  #place: Place = 'start';
  /** The number of open lists and objects within the value. */
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /**
   * Whether the value is a number, a word or a text. It ends before a space, a comma or the end of the list.
   */
  #isBare = false;
  /** The parts of the value from earlier chunks. */
  #carried: Buffer[] = [];
  #carriedLength = 0;
  #count = 0;
  #line = 1;
  #valueLine = 1;
  /** Whether the open value is the first object of the text, which may be around a list `data`. */
  #mayWrap = false;
  /** Whether the list is the member `data` of an object. The other members are skipped. */
  #isWrapped = false;

  constructor({ maxLineLength }: SourceLimits) {
    this.#maxLength = maxLineLength;
  }

  push(chunk: Buffer): NumberedBytes[] {
    const values: NumberedBytes[] = [];
    // Where the open value begins in this chunk. Its beginning may be in an earlier chunk.
    let start = this.#isOpen() ? 0 : -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#isInText) {
        at = this.#passText(chunk, at);
        continue;
      }
      if (byte === NEWLINE) this.#line += 1;
      if (!this.#isOpen()) {
        if (isSpace(byte)) continue;
        if (!this.#begins(byte)) continue;
        start = at;
        this.#valueLine = this.#line;
      }
      if (this.#mayWrap && byte === OPEN_LIST && this.#isWrapping(chunk.subarray(start, at))) {
        this.#place = 'value';
        this.#isWrapped = true;
        this.#mayWrap = false;
        this.#depth = 0;
        this.#carried = [];
        this.#carriedLength = 0;
        start = -1;
        continue;
      }
      if (this.#passes(byte)) continue;
      // A value that is not a list, object or text ends before the next character.
      const end = this.#isBare ? at : at + 1;
      values.push(this.#take(chunk.subarray(start, end)));
      start = -1;
      if (this.#isBare) {
        this.#isBare = false;
        if (byte === NEWLINE) this.#line -= 1;
        at -= 1;
      }
    }
    if (start >= 0) this.#carry(chunk.subarray(start));
    return values;
  }

  end(): NumberedBytes[] {
    if (this.#isBare && this.#place === 'sequence') return [this.#take(EMPTY)];
    const isWhole = !this.#isOpen() && (this.#place === 'sequence' || this.#place === 'behind');
    if (isWhole) return [];
    const what =
      this.#place === 'start' ? 'holds nothing' : `ends within what begins on line ${this.#valueLine}`;
    throw new ServiceError('MALFORMED_REQUEST', `The file ${what}; it is cut, or no JSON. Send all of it.`);
  }

  #isOpen(): boolean {
    return this.#depth > 0 || this.#isInText || this.#isBare;
  }

  /** Whether a value begins with the byte. Otherwise the byte separates values. */
  #begins(byte: number): boolean {
    if (this.#place === 'start') {
      this.#place = byte === OPEN_LIST ? 'value' : 'sequence';
      if (byte === OPEN_LIST) return false;
      this.#mayWrap = byte === OPEN_OBJECT;
      return true;
    }
    if (this.#place === 'sequence') return true;
    if (this.#place === 'behind') {
      if (this.#isWrapped) return false;
      throw this.#unexpected(byte, 'nothing more');
    }
    if (byte === CLOSE_LIST) {
      this.#place = 'behind';
      return false;
    }
    if (this.#place === 'comma') {
      if (byte !== COMMA) throw this.#unexpected(byte, 'a comma or the end of the list');
      this.#place = 'value';
      return false;
    }
    if (byte === COMMA) throw this.#unexpected(byte, 'a value');
    this.#place = 'comma';
    return true;
  }

  /** Whether the list `data` of the first object begins behind these bytes. */
  #isWrapping(before: Buffer): boolean {
    if (this.#depth !== 1) return false;
    const last = [...this.#carried.slice(-MOST_CHUNKS), before].map((bytes) =>
      bytes.subarray(-MOST_BEFORE_LIST),
    );
    return NAME_OF_LIST.test(Buffer.concat(last).toString('latin1'));
  }

  /** Adds a byte to the open value. False if the value ends with the byte or before it. */
  #passes(byte: number): boolean {
    if (this.#depth === 0 && this.#isBare) return !isSpace(byte) && byte !== COMMA && byte !== CLOSE_LIST;
    switch (byte) {
      case QUOTE:
        this.#isInText = true;
        return true;
      case OPEN_LIST:
      case OPEN_OBJECT:
        this.#depth += 1;
        return true;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        this.#depth -= 1;
        return this.#depth > 0;
      default:
        this.#isBare = this.#depth === 0;
        return true;
    }
  }

  /**
   * Skips to the quote that ends the text, or to the end of the chunk. Returns the position of the last
   * byte.
   */
  #passText(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#isInText = false;
        // A text that is not a member of a value is itself a value. The parser of values rejects it.
        if (this.#depth === 0) this.#isBare = true;
        return at;
      }
    }
    return chunk.length;
  }

  #take(bytes: Buffer): NumberedBytes {
    const value = this.#carried.length > 0 ? Buffer.concat([...this.#carried, bytes]) : bytes;
    if (value.length > this.#maxLength) throw tooLong(this.#valueLine, this.#maxLength);
    this.#carried = [];
    this.#carriedLength = 0;
    this.#mayWrap = false;
    this.#count += 1;
    return { number: this.#count, bytes: value };
  }

  #carry(bytes: Buffer): void {
    this.#carried.push(bytes);
    this.#carriedLength += bytes.length;
    if (this.#carriedLength > this.#maxLength) throw tooLong(this.#valueLine, this.#maxLength);
  }

  #unexpected(byte: number, expected: string): ServiceError {
    const sent = JSON.stringify(String.fromCharCode(byte));
    return new ServiceError(
      'MALFORMED_REQUEST',
      `Line ${this.#line} has ${sent} where ${expected} is expected.`,
    );
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}
