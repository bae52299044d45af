/**
 * Texts of workbooks (ST_Xstring, ECMA-376 part 1, 22.9.2.19): a character that XML cannot express is written
 * as `_x` and its four hexadecimal digits and `_`, e.g. `_x000D_`; a text that looks so begins with
 * `_x005F_`.
 */

const ESCAPED = /_x([0-9a-f]{4})_/gi;
/** Line ends are written too: XML reads a carriage return as a line feed. */
const UNWRITABLE = /(?![\t\n])\p{Cc}|[\ufffe\uffff]/gu;

export function decodeXstring(text: string): string {
  if (!text.includes('_x') && !text.includes('_X')) return text;
  return text.replace(ESCAPED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Half of a character, which no text of a file can hold, becomes the replacement character. */
export function encodeXstring(text: string): string {
  return text
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(UNWRITABLE, (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .toWellFormed();
}
