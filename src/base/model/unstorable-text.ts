/**
 * U+0000, and unpaired halves of surrogate pairs: JSON text can contain them, Postgres cannot store
 * them.
 */
const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** The offset of the first character no stored text can hold, `undefined` where all can be. */
export function findUnstorableText(text: string): number | undefined {
  const position = text.search(UNSTORABLE);
  return position === -1 ? undefined : position;
}

/** The text with U+FFFD in place of each such character. */
export function replaceUnstorable(text: string): string {
  return text.replaceAll(new RegExp(UNSTORABLE, 'g'), '\u{FFFD}');
}

/** A whole escape of JSON text, so that text after an escaped backslash is not taken for an escape. */
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/gi;
const UNSTORABLE_ESCAPE = /^\\u(?:0000|d[89a-f][0-9a-f]{2})$/i;

/**
 * JSON text with U+FFFD in place of unstorable characters, for texts that people read. The text must have
 * surrogate pairs unescaped, as `JSON.stringify` prints them.
 */
export function replaceUnstorableText(json: string): string {
  return json.replaceAll(ESCAPE, (sequence) => (UNSTORABLE_ESCAPE.test(sequence) ? '\\ufffd' : sequence));
}
