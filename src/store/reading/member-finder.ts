/**
 * Finds members of an object in its JSON text, as PostgreSQL prints jsonb: `{"id": 1, "name": "Asha"}`, with
 * a space after every `:` and `,`, and members in the order of their names. Values can thus be copied without
 * parsing. The text is UTF-8, in which an ASCII byte is never part of another character.
 */
import { inJsonbOrder } from '../sql/names.js';

/** JSON does not escape these characters. */
const PLAIN_NAME = /^[A-Za-z0-9_$-]+$/;

export class MemberFinder {
  /** The names to find, in the order of jsonb. */
  readonly names: readonly string[];
  /** The start of each value in the text searched last; -1 if the member is missing. */
  readonly starts: Int32Array;
  /** The end of each value. */
  readonly ends: Int32Array;
  /** The names as they appear in the text. */
  readonly #quoted: readonly Uint8Array[];

  /** Takes only names that are `isFindable`. */
  constructor(names: Iterable<string>) {
    this.names = [...new Set(names)].sort(inJsonbOrder);
    this.starts = new Int32Array(this.names.length);
    this.ends = new Int32Array(this.names.length);
    this.#quoted = this.names.map((name) => Buffer.from(`"${name}"`));
  }

  static isFindable(name: string): boolean {
    return PLAIN_NAME.test(name);
  }

  /** Searches the object that begins at `start`. */
  find(text: Uint8Array, start: number): void {
    const { starts, ends } = this;
    const quoted = this.#quoted;
    const count = quoted.length;
    let wanted = 0;
    let at = start + 1;
    let isOver = text[at] === CLOSE_OBJECT;
    while (wanted < count && !isOver) {
      // Usually the next member is the next wanted one.
      let isWanted = isAt(text, at, quoted[wanted] as Uint8Array);
      const nameEnd = isWanted ? at + (quoted[wanted] as Uint8Array).length : endOfText(text, at);
      while (!isWanted && wanted < count && comesBefore(quoted[wanted] as Uint8Array, text, at, nameEnd)) {
        starts[wanted] = -1;
        wanted += 1;
        isWanted = wanted < count && isAt(text, at, quoted[wanted] as Uint8Array);
      }
      const valueEnd = endOfValue(text, nameEnd + 2);
      if (isWanted) {
        starts[wanted] = nameEnd + 2;
        ends[wanted] = valueEnd;
        wanted += 1;
      }
      isOver = text[valueEnd] === CLOSE_OBJECT;
      at = valueEnd + 2;
    }
    for (; wanted < count; wanted += 1) starts[wanted] = -1;
  }
}

/** Whether the text has these bytes at a position. */
export function isAt(text: Uint8Array, at: number, bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (text[at + index] !== bytes[index]) return false;
  return true;
}

/** Whether a name certainly sorts before another one, which is in the text. */
function comesBefore(quoted: Uint8Array, text: Uint8Array, at: number, end: number): boolean {
  const longer = quoted.length - (end - at);
  let index = 0;
  while (longer === 0 && index < quoted.length && quoted[index] === text[at + index]) index += 1;
  const isBefore = longer < 0 || (longer === 0 && (quoted[index] ?? 0) < (text[at + index] ?? 0));
  // A name with an escape is shorter than its text.
  return isBefore && !text.subarray(at, end).includes(BACKSLASH);
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const OPEN_OBJECT = '{'.charCodeAt(0);
const CLOSE_OBJECT = '}'.charCodeAt(0);
const OPEN_LIST = '['.charCodeAt(0);
const CLOSE_LIST = ']'.charCodeAt(0);

/**
 * The end of the value that begins at `start`, within an object or a list: the position after its last byte.
 */
export function endOfValue(text: Uint8Array, start: number): number {
  const first = text[start];
  if (first === QUOTE) return endOfText(text, start);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return endOfNested(text, start);
  let end = start + 1;
  while (text[end] !== COMMA && text[end] !== CLOSE_OBJECT && text[end] !== CLOSE_LIST) end += 1;
  return end;
}

function endOfText(text: Uint8Array, start: number): number {
  let end = start + 1;
  while (text[end] !== QUOTE) end += text[end] === BACKSLASH ? 2 : 1;
  return end + 1;
}

function endOfNested(text: Uint8Array, start: number): number {
  let depth = 1;
  let at = start + 1;
  while (depth > 0) {
    const byte = text[at];
    if (byte === QUOTE) {
      at = endOfText(text, at);
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    at += 1;
  }
  return at;
}
