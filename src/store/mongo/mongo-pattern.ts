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
  const translated = translate(source, options, (position, what) =>
    malformedMongo(place, `a regular expression without ${what} (at ${position})`, source),
  );
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

/** The parts of a pattern that are not one character by itself. A trailing backslash is an escape, too. */
const ESCAPE = String.raw`\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^]?)`;
const BRACKET = String.raw`\[(?<not>\^?)(?<inside>(?:${ESCAPE}|[^\]\\])*)(?<end>\]?)`;
const PART = new RegExp(
  String.raw`(?<escaped>${ESCAPE})|${BRACKET}|\(\?(?<group>:|=|!|<=|<!|)|\{(?<count>\d+(?:,\d*)?\})?|\.`,
  'g',
);
const IN_BRACKET = new RegExp(String.raw`${ESCAPE}|\[`, 'g');

type Refuse = (position: number, what: string) => Error;

function translate(source: string, options: string, refused: Refuse): string {
  return source.replace(PART, (part: string, ...found) => {
    const { escaped, not, inside, end, group, count } = found.at(-1) as Record<string, string | undefined>;
    const at: number = found.at(-3);
    if (escaped !== undefined) return translateEscape(part, at, { isInBracket: false, refused });
    if (inside !== undefined) {
      const start = at + 1 + (not ?? '').length;
      // In Postgres `[:`, `[.` and `[=` begin a class.
      const translated = inside.replace(IN_BRACKET, (one, offset: number) =>
        one === '[' ? '\\[' : translateEscape(one, start + offset, { isInBracket: true, refused }),
      );
      if (end === '') throw refused(at, 'a bracket that does not end');
      if (inside === '') throw refused(at, 'an empty bracket');
      return `[${not}${translated}]`;
    }
    if (group !== undefined) {
      if (group === '') throw refused(at, 'a named group, or inline options');
      return part;
    }
    if (part === '.') return options.includes('s') ? part : NO_NEWLINE;
    // A malformed count is text in JavaScript, but an error in Postgres.
    if (count === undefined) return '\\{';
    if (count.match(/\d+/g)?.some((times) => Number(times) > MAX_REPEATS))
      throw refused(at, `a count above ${MAX_REPEATS}`);
    return part;
  });
}

function translateEscape(
  escaped: string,
  at: number,
  { isInBracket, refused }: { readonly isInBracket: boolean; readonly refused: Refuse },
): string {
  const [, character = '', ...digits] = escaped;
  if (SHARED_ESCAPES.includes(character)) return escaped;
  if (character === 'b') return isInBracket ? '\\b' : '\\y';
  if (character === 'B' && !isInBracket) return '\\Y';
  if (character === 'x' || character === 'u') {
    const code = digits.join('').padStart(4, '0');
    if (code !== '0000') return `\\u${code}`;
    const length = character === 'x' ? 2 : 4;
    throw refused(at, `\\${character} without ${length} hexadecimal digits other than 0`);
  }
  if (character === '0') throw refused(at, '\\0, which no text holds');
  if (/[1-9]/.test(character)) throw refused(at, 'a back reference, which can take forever');
  if (/[A-Za-z]/.test(character)) throw refused(at, `\\${character}`);
  return escaped;
}
