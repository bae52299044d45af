/**
 * JSON text inside a GraphQL result or an answer to a script. It is inserted into the printed answer as it
 * is, so that exact numbers keep their digits and text from the database is not parsed and printed again.
 */
import { randomUUID } from 'node:crypto';
import type { PrintedJson } from '../json/json.js';

/** A value that prints as this text, which must be JSON. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `JSON.stringify` calls this: it leaves a mark that `printResult` replaces. */
  toJSON(): string {
    if (!marked) throw new Error('a JsonText is printed by printResult alone');
    marked.push(this.text);
    return `${MARK}${marked.length - 1}`;
  }
}

/** Unknown outside this process, so no stored text can pass for a mark. */
const MARK = `json-text:${randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}(\\d+)"`, 'g');
/**
 * The texts met by the current `JSON.stringify`. A variable of the module, because `toJSON` gets no argument
 * for them; it is empty between two calls of `printResult`, which is synchronous.
 */
let marked: string[] | undefined;

const SPLICED = Symbol('spliced');

/** The whole data of a result, as text. Apollo wants an object there. */
export function toSplicedData(text: PrintedJson): Record<string, unknown> {
  return { [SPLICED]: text, toJSON: () => new JsonText(text.toString()).toJSON() };
}

/** `printResult` for an answer that is sent: text that is already bytes stays bytes. */
export function printAnswer(result: unknown): PrintedJson {
  const data = onlyData(result);
  return data === undefined ? printResult(result) : joinJson([DATA_START, data, DATA_END]);
}

/** JSON text in pieces, as one. */
export function joinJson(pieces: readonly PrintedJson[]): PrintedJson {
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

/** `JSON.stringify`, with the text of every `JsonText` in its place. */
export function printResult(result: unknown): string {
  const data = onlyData(result);
  if (data !== undefined) return joinJson([DATA_START, data, DATA_END]).toString();
  const texts: string[] = [];
  marked = texts;
  try {
    const printed = JSON.stringify(result);
    if (texts.length === 0) return printed;
    return printed.replace(MARKED, (_mark, index: string) => texts[Number(index)] ?? 'null');
  } finally {
    marked = undefined;
  }
}

const DATA_START = '{"data":';
const DATA_END = '}';

/** The text of a result that is nothing but spliced data, as most are: it needs no mark. */
function onlyData(result: unknown): PrintedJson | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { data, errors, extensions } = result as {
    readonly data?: unknown;
    readonly errors?: unknown;
    readonly extensions?: unknown;
  };
  if (errors !== undefined || extensions !== undefined) return undefined;
  if (typeof data !== 'object' || data === null || !(SPLICED in data)) return undefined;
  return data[SPLICED] as PrintedJson;
}
