/**
 * Translates a JavaScript regular expression to Postgres's "advanced" ones, which run in time linear in the
 * text, except for back references; those are refused. What exists only in JavaScript is refused by name,
 * never interpreted differently.
 *
 *   \b \B become \y \Y; `.` and `[^…]` mean what they mean in JavaScript, whatever the newlines
 *
 * @see https://www.postgresql.org/docs/current/functions-matching.html#POSIX-SYNTAX-DETAILS
 */

import { tooManySent } from '../../base/languages/sent-place.js';
import { findUnstorableText } from '../../base/model/unstorable-text.js';
import { MONGO_LIMITS, type MongoPlace, malformedMongo } from './mongo-place.js';

const OPTIONS = /^[imsx]*$/;
/** Escapes with the same meaning in both. */
const SHARED_ESCAPES = 'dDwWsSnrtfv';
const NO_NEWLINE = '[^\\n\\r\\u2028\\u2029]';
/** Larger counts of a group that itself contains a count would produce an enormous automaton. */
const MAX_REPEATS = 100;

interface Pattern {
  readonly source: string;
  readonly options: string;
}

/** @throws MALFORMED_FILTER (400) with the position and what would be right; LIMIT_EXCEEDED (400) */
export function parseMongoPattern({ source, options }: Pattern, place: MongoPlace): string {
  if (source.length > MONGO_LIMITS.maxPatternLength) {
    throw tooManySent(place, MONGO_LIMITS.maxPatternLength, 'characters of a regular expression');
  }
  if (!OPTIONS.test(options)) throw malformedMongo(place, '$options of i, m, s and x', options);
  if (findUnstorableText(source) !== undefined)
    throw malformedMongo(place, 'characters a record can hold', source);
  assertIsPattern(source, options, place);
  const translated = new Translation(source, options, place).translate();
  // n: `^` and `$` at newlines, which `.` and `[^…]` then do not cross of themselves; w: only the former.
  const flags = [
    options.includes('i') ? 'i' : '',
    options.includes('m') ? 'w' : '',
    options.includes('x') ? 'x' : '',
  ].join('');
  return flags === '' ? `***:${translated}` : `***:(?${flags})${translated}`;
}

/** Only patterns that are valid in JavaScript are translated. */
function assertIsPattern(source: string, options: string, place: MongoPlace): void {
  if (options.includes('x')) return;
  try {
    new RegExp(source, 'u');
  } catch (strict) {
    try {
      new RegExp(source);
    } catch {
      const reason = strict instanceof Error ? strict.message : String(strict);
      throw malformedMongo(place, `a regular expression of JavaScript (${reason})`, source);
    }
  }
}

class Translation {
  readonly #source: string;
  readonly #options: string;
  readonly #place: MongoPlace;
  #position = 0;

  constructor(source: string, options: string, place: MongoPlace) {
    this.#source = source;
    this.#options = options;
    this.#place = place;
  }

  translate(): string {
    let translated = '';
    while (this.#position < this.#source.length) translated += this.#next();
    return translated;
  }

  #next(): string {
    const character = this.#take();
    switch (character) {
      case '\\':
        return this.#escape('outside');
      case '[':
        return this.#bracket();
      case '(':
        return this.#group();
      case '{':
        return this.#count();
      case '.':
        return this.#options.includes('s') ? '.' : NO_NEWLINE;
      default:
        return character;
    }
  }

  #take(): string {
    const character = this.#source[this.#position] ?? '';
    this.#position += 1;
    return character;
  }

  #escape(where: 'outside' | 'in a bracket'): string {
    const at = this.#position - 1;
    const character = this.#take();
    if (SHARED_ESCAPES.includes(character)) return `\\${character}`;
    if (character === 'b') return where === 'outside' ? '\\y' : '\\b';
    if (character === 'B' && where === 'outside') return '\\Y';
    if (character === 'x' || character === 'u') return this.#codePoint(character, at);
    if (character === '0') throw this.#refused(at, '\\0, which no text holds');
    if (/[1-9]/.test(character)) throw this.#refused(at, 'a back reference, which can take forever');
    if (/[A-Za-z]/.test(character)) throw this.#refused(at, `\\${character}`);
    return `\\${character}`;
  }

  #codePoint(kind: 'x' | 'u', at: number): string {
    const digits = kind === 'x' ? 2 : 4;
    const code = this.#source.slice(this.#position, this.#position + digits);
    if (code.length !== digits || !/^[0-9a-fA-F]+$/.test(code) || /^0+$/.test(code)) {
      throw this.#refused(at, `\\${kind} without ${digits} hexadecimal digits other than 0`);
    }
    this.#position += digits;
    return `\\u${code.padStart(4, '0')}`;
  }

  #bracket(): string {
    const at = this.#position - 1;
    let translated = '[';
    if (this.#source[this.#position] === '^') translated += this.#take();
    let isEmpty = true;
    for (;;) {
      if (this.#position >= this.#source.length) throw this.#refused(at, 'a bracket that does not end');
      const character = this.#take();
      if (character === ']') break;
      isEmpty = false;
      if (character === '\\') translated += this.#escape('in a bracket');
      // In Postgres `[:`, `[.` and `[=` begin a class.
      else if (character === '[') translated += '\\[';
      else translated += character;
    }
    if (isEmpty) throw this.#refused(at, 'an empty bracket');
    return `${translated}]`;
  }

  #group(): string {
    const at = this.#position - 1;
    if (this.#source[this.#position] !== '?') return '(';
    const kind = /^\?(?::|=|!|<=|<!)/.exec(this.#source.slice(this.#position))?.[0];
    if (kind === undefined) throw this.#refused(at, 'a named group, or inline options');
    this.#position += kind.length;
    return `(${kind}`;
  }

  /** A malformed count is text in JavaScript, but an error in Postgres. */
  #count(): string {
    const at = this.#position - 1;
    const count = /^(\d+)(?:,(\d*))?\}/.exec(this.#source.slice(this.#position));
    if (count === null) return '\\{';
    if (Number(count[1]) > MAX_REPEATS || Number(count[2] ?? 0) > MAX_REPEATS) {
      throw this.#refused(at, `a count above ${MAX_REPEATS}`);
    }
    this.#position += count[0].length;
    return `{${count[0]}`;
  }

  #refused(position: number, what: string): Error {
    return malformedMongo(this.#place, `a regular expression without ${what} (at ${position})`, this.#source);
  }
}
