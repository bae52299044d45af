/**
 * U+0000, and halves of a surrogate pair that stand alone: JSON text can spell them, Postgres cannot hold
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

/** An escape of JSON text, taken as a whole: what follows an escaped backslash is no escape. */
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/gi;
const UNSTORABLE_ESCAPE = /^\\u(?:0000|d[89a-f][0-9a-f]{2})$/i;

/**
 * JSON text with U+FFFD in place of what no stored text can hold: for what is kept to be read by people. Of a
 * printer that writes pairs of surrogates as they are, as `JSON.stringify` does.
 */
export function replaceUnstorableText(json: string): string {
  return json.replaceAll(ESCAPE, (sequence) => (UNSTORABLE_ESCAPE.test(sequence) ? '\\ufffd' : sequence));
}
