/**
 * The lines of every CSV file that the gateway writes (RFC 4180). They end in CRLF, and no cell, headings
 * included, can be run as a formula by a spreadsheet.
 */

/** `null` is a cell without a value and prints nothing; the empty text prints `""`. */
export function printCsvLine(cells: readonly (string | null)[]): string {
  const texts = cells.map((cell) => (cell === null ? '' : quote(disarmFormula(cell))));
  return `${texts.join(',')}\r\n`;
}

/**
 * Puts an apostrophe before a text that a spreadsheet would run as a formula, so that it is shown as text.
 *
 * A formula begins with `=`, `+`, `-` or `@`, in the full-width and small forms of East Asian keyboards too
 * (`＝1+1`), and spreadsheets find it behind spaces and invisible characters. Some of them split a cell that
 * begins with a tab or a line break. A signed number or a phone number is not a formula.
 * A text that already has such an apostrophe gets another one, so that removing one restores every text.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function disarmFormula(text: string): string {
  return isFormula(text) ? `'${text}` : text;
}

/** The original of a disarmed text: removes the apostrophe that `disarmFormula` added, and no other. */
export function rearmFormula(text: string): string {
  return text.startsWith("'") && isFormula(text) ? text.slice(1) : text;
}

const UNSEEN = /^[\s\p{Cc}\p{Cf}\p{Z}]+/u;
const SIGNED_NUMBER = /^[+-]\d[\d.,]*(e[+-]?\d+)?$/i;
const PHONE_NUMBER = /^[+-][\d ()-]+$/;

function isFormula(written: string): boolean {
  const text = written.replace(/^'+/, '');
  if (/^[\t\r\n]/.test(text)) return true;
  const [first] = text.replace(UNSEEN, '');
  if (first === undefined || !/[=+@-]/.test(first.normalize('NFKC'))) return false;
  return !SIGNED_NUMBER.test(text) && !PHONE_NUMBER.test(text);
}

function quote(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
