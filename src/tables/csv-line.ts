/**
 * What every CSV of ours is made of (RFC 4180): lines that end in CRLF, cells that a spreadsheet does not
 * run, headings included.
 */

/** `null` is a cell without a value and leaves nothing; the empty text leaves `""`. */
export function printCsvLine(cells: readonly (string | null)[]): string {
  const texts = cells.map((cell) => (cell === null ? '' : quote(disarmFormula(cell))));
  return `${texts.join(',')}\r\n`;
}

/**
 * A text that a spreadsheet would run as a formula, with an apostrophe before it: the spreadsheet then shows
 * it as text.
 *
 * A formula begins with `=`, `+`, `-` or `@`, in the full-width and small forms of East Asian keyboards too
 * (`＝1+1`), and spreadsheets look for it behind spaces and characters that nobody sees. A cell that begins
 * with a tab or the end of a line is taken apart by some. A signed number or a phone number is no formula.
 * A text that has such an apostrophe already gets another one, so that taking one away gives every text back.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function disarmFormula(text: string): string {
  return isFormula(text) ? `'${text}` : text;
}

/** The text that was disarmed: takes the apostrophe away that `disarmFormula` has set, and no other. */
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
