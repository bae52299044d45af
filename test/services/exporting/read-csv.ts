/** RFC 4180; a cell without quotes and without a text is `null`, a quoted one the empty text. */
export function readCsv(text: string): (string | null)[][] {
  const lines: (string | null)[][] = [];
  let line: (string | null)[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    line.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    lines.push(line);
    line = [];
  }
  return lines;
}
