/** Rows of JSON: of a list, of lines, or of consecutive documents, in plain or extended JSON. */
import { ServiceError } from '../../../base/errors.js';
import { isNestedDeeply, MAX_JSON_DEPTH } from '../../../base/json/body-shape.js';
import { isJsonObject, type JsonObject, parseSentJson, toNumberAsWritten } from '../../../base/json/json.js';
import { type NumberReading, parseJsonBody } from '../../../base/json/json-body-parser.js';
import { findEncoding, readAsUtf8 } from './encoding.js';
import { toPlainDocument } from './plain-document.js';
import {
  inBatches,
  type NumberedBytes,
  type RowSource,
  SOURCE_LIMITS,
  type SourceFile,
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
): Promise<RowSource> {
  const { encoding, warnings } = await findEncoding(file.path, options.encoding);
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
    rows: (signal, batchRows) =>
      inBatches(
        split(readAsUtf8(file.path, encoding)),
        ({ number, bytes }) => rowOf(number, bytes.toString()),
        signal,
        batchRows,
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

/** 12.50 and 1e3 stay what they are. */
const AS_WRITTEN: NumberReading = {
  ofFloat: (value) => value,
  ofDigits: toNumberAsWritten,
  parse: (text) => parseSentJson(text, toNumberAsWritten),
};

/** Returns the document, or the text of a fault. */
function parseDocument(json: string): JsonObject | string {
  if (isNestedDeeply(json)) return `the document is nested deeper than ${MAX_JSON_DEPTH} levels`;
  try {
    const parsed = parseJsonBody(json, Buffer.from(json), AS_WRITTEN);
    return isJsonObject(parsed) ? parsed : 'a JSON object is expected here, {"field": value, …}';
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `this is not JSON (${error.message}); a JSON object is expected here`;
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

/** The place in the text: before a value, or at the end of the list of values, where no value may follow. */
type Place = 'start' | 'sequence' | 'value' | 'comma' | 'behind';

/**
 * The values of a text: the elements of its list, those of the list `data` of its object, or otherwise
 * consecutive values. Each batch holds the values that end in one chunk.
 *
 * @throws LIMIT_EXCEEDED if a value is too long, MALFORMED_REQUEST if the text ends within a value or has
 * other characters between two values, with the line
 */
async function* splitJsonValues(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly NumberedBytes[]> {
  let place = 'start' as Place;
  let line = 1;
  let valueLine = 1;
  let count = 0;
  /** Whether a value is open, and the number of open lists and objects within it. */
  let isOpen = false;
  let depth = 0;
  /** Within a text, and behind a backslash of it. */
  let isInText = false;
  let isEscaped = false;
  /** Whether the value is a number, a word or a text, which ends before a space, a comma or a bracket. */
  let isBare = false;
  /** Whether the value is the first object. It may be around a list `data`; its other members are skipped. */
  let mayWrap = false;
  let isWrapped = false;
  /** The parts of the value from earlier chunks. */
  let carried: Buffer[] = [];
  const carry = (bytes: Buffer) => {
    carried.push(bytes);
    assertNotLonger(
      carried.reduce((sum, { length }) => sum + length, 0),
      valueLine,
    );
  };
  const take = (bytes: Buffer): NumberedBytes => {
    carry(bytes);
    const value = carried.length === 1 ? bytes : Buffer.concat(carried);
    carried = [];
    isOpen = isBare = mayWrap = false;
    depth = 0;
    count += 1;
    return { number: count, bytes: value };
  };
  /** Whether a value begins with the byte. Otherwise the byte separates values. */
  const begins = (byte: number): boolean => {
    const expected = EXPECTED[place];
    if (place === 'start') {
      place = byte === OPEN_LIST ? 'value' : 'sequence';
      mayWrap = byte === OPEN_OBJECT;
      return place === 'sequence';
    }
    if (place === 'sequence') return true;
    if (place === 'behind' && isWrapped) return false;
    if (place !== 'behind' && byte === CLOSE_LIST) {
      place = 'behind';
      return false;
    }
    if (place === 'behind' || (byte === COMMA) !== (place === 'comma')) {
      const sent = JSON.stringify(String.fromCharCode(byte));
      const detail = `Line ${line} has ${sent} where ${expected} is expected.`;
      throw new ServiceError('MALFORMED_REQUEST', detail);
    }
    place = byte === COMMA ? 'value' : 'comma';
    return byte !== COMMA;
  };
  for await (const chunk of chunks) {
    const values: NumberedBytes[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          isInText = false;
          // A text that is not a member of a value is itself a value. The parser of values rejects it.
          isBare = depth === 0;
        }
        continue;
      }
      const isEnd = isSpace(byte) || byte === COMMA || byte === CLOSE_LIST;
      if (isBare && isEnd && depth === 0) values.push(take(chunk.subarray(start, at)));
      if (byte === NEWLINE) line += 1;
      if (!isOpen) {
        if (isSpace(byte) || !begins(byte)) continue;
        isOpen = true;
        start = at;
        valueLine = line;
      }
      if (byte === QUOTE) isInText = true;
      else if (byte === OPEN_LIST && mayWrap && depth === 1 && isNamedData(chunk.subarray(start, at))) {
        place = 'value';
        isWrapped = true;
        isOpen = mayWrap = false;
        depth = 0;
        carried = [];
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        depth -= 1;
        if (depth <= 0) values.push(take(chunk.subarray(start, at + 1)));
      } else if (depth === 0) isBare = true;
    }
    if (isOpen) carry(chunk.subarray(start));
    yield values;
  }
  if (isBare && place === 'sequence') yield [take(EMPTY)];
  if (!isOpen && (place === 'sequence' || place === 'behind')) return;
  const what = place === 'start' ? 'holds nothing' : `ends within what begins on line ${valueLine}`;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    `The file ${what}; it is incomplete, or not JSON. Send all of it.`,
  );

  /** Whether the list `data` begins behind these bytes of the first object. */
  function isNamedData(before: Buffer): boolean {
    const last = [...carried.slice(-MOST_CHUNKS), before].map((bytes) => bytes.subarray(-MOST_BEFORE_LIST));
    return NAME_OF_LIST.test(Buffer.concat(last).toString('latin1'));
  }
}

const EXPECTED: Readonly<Record<Place, string>> = {
  start: 'a value',
  sequence: 'a value',
  value: 'a value',
  comma: 'a comma or the end of the list',
  behind: 'nothing more',
};

/**
 * The lines of a text that are not blank, with their numbers. Each batch holds the lines that end in one
 * chunk.
 *
 * @throws LIMIT_EXCEEDED if a line is too long
 */
async function* splitJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly NumberedBytes[]> {
  let carried: Buffer[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of chunks) {
    const lines: NumberedBytes[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      assertNotLonger(length + rest.length, number);
      const bytes = carried.length > 0 ? Buffer.concat([...carried, rest]) : rest;
      if (!isBlank(bytes)) lines.push({ number, bytes });
      carried = [];
      length = 0;
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) carried.push(chunk.subarray(start));
    length += chunk.length - start;
    assertNotLonger(length, number);
    yield lines;
  }
  const last = Buffer.concat(carried);
  if (!isBlank(last)) yield [{ number, bytes: last }];
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace);
}

function assertNotLonger(length: number, line: number): void {
  const { maxLineLength } = SOURCE_LIMITS;
  if (length <= maxLineLength) return;
  throw new ServiceError(
    'LIMIT_EXCEEDED',
    `What begins on line ${line} is longer than ${maxLineLength} bytes, the most of a document. Divide it.`,
  );
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}
