/** Limits the size of answers: an agent reads every byte, and each takes space in its context. */
import { isJsonObject, type JsonValue, parseKeepingDigits, printExactJson } from '../../base/json/json.js';
import { isList } from '../../base/model/compare-json.js';

export interface AnswerBounds {
  /** Rows of each list. */
  readonly maxRows: number;
  /** Bytes of the whole, as JSON. */
  readonly maxBytes: number;
}

export interface BoundedAnswer {
  readonly text: string;
  /** The lists that were cut, one line each; empty if none was. */
  readonly cuts: readonly string[];
}

interface FoundList {
  readonly path: readonly string[];
  readonly list: JsonValue[];
}

/**
 * The JSON text within the limits. Rows are cut from the ends of lists: first from those longer than
 * `maxRows`, then from the largest; a row is never cut. A value too large without a list is left out.
 */
export function boundAnswer(text: string, { maxRows, maxBytes }: AnswerBounds): BoundedAnswer {
  const isLarge = Buffer.byteLength(text) > maxBytes;
  // Each further row of a list needs a comma, so most answers need not be parsed.
  if (!isLarge && !hasMoreCommas(text, maxRows - 1)) return { text, cuts: [] };
  const value = parseKeepingDigits(text);
  const cameByPath = new Map<string, { readonly list: JsonValue[]; readonly came: number }>();
  const cut = ({ path, list }: FoundList, length: number) => {
    const name = path.join('.');
    if (!cameByPath.has(name)) cameByPath.set(name, { list, came: list.length });
    list.length = length;
  };
  for (const found of listsIn(value, [])) if (found.list.length > maxRows) cut(found, maxRows);
  let printed = printExactJson(value);
  while (Buffer.byteLength(printed) > maxBytes) {
    const [largest] = [...listsIn(value, [])]
      .filter((found) => !found.path.includes('*'))
      .map((found) => ({ found, bytes: bytesOf(found.list) }))
      .filter(({ found }) => found.list.length > 0)
      .sort((one, other) => other.bytes - one.bytes);
    if (largest === undefined) {
      const bytes = Buffer.byteLength(printed).toLocaleString('en');
      return { text: 'null', cuts: [`all of it, which is ${bytes} bytes long and has no list to cut`] };
    }
    const excess = Buffer.byteLength(printed) - maxBytes;
    cut(largest.found, lengthWithin(largest.found.list, largest.bytes - excess));
    printed = printExactJson(value);
  }
  const cuts = [...cameByPath].map(
    ([path, { list, came }]) => `${path || 'the list'} shows ${list.length} of the ${came} rows that came`,
  );
  return { text: printed, cuts };
}

/** Cuts a text at the end of a line. */
export function boundText(text: string, maxBytes: number): BoundedAnswer {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, cuts: [] };
  const start = bytes.subarray(0, Math.max(0, bytes.lastIndexOf('\n', maxBytes))).toString();
  return { text: start, cuts: [`the text shows ${Buffer.byteLength(start)} of ${bytes.length} bytes`] };
}

function hasMoreCommas(text: string, max: number): boolean {
  let count = 0;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) {
    count += 1;
    if (count > max) return true;
  }
  return false;
}

/** How many leading elements fit into these bytes; at least one fewer than there are. */
function lengthWithin(list: readonly JsonValue[], maxBytes: number): number {
  let bytes = 2;
  for (const [index, element] of list.entries()) {
    bytes += bytesOf(element) + 1;
    if (bytes > maxBytes) return Math.min(index, list.length - 1);
  }
  return list.length - 1;
}

function bytesOf(value: JsonValue): number {
  return Buffer.byteLength(printExactJson(value));
}

/** Every list, including those within rows of others. */
function* listsIn(value: JsonValue, path: readonly string[]): Generator<FoundList> {
  if (isList(value)) {
    // The value was just parsed and may be modified.
    yield { path, list: value as JsonValue[] };
    for (const element of value) yield* listsIn(element, [...path, '*']);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, member] of Object.entries(value)) yield* listsIn(member, [...path, name]);
}
