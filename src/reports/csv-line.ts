/** What every CSV of ours is made of (RFC 4180): lines that end in CRLF, texts that a spreadsheet does not run. */

export function printCsvLine(cells: readonly string[]): string {
  return `${cells.map(quote).join(',')}\r\n`;
}

/** A text that a spreadsheet would run as a formula is shown as text. A phone number or a signed number is none. */
export function disarmFormula(text: string): string {
  return /^[=@\t\r]|^[+-](?![\d ()-]+$)/.test(text) ? `'${text}` : text;
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
