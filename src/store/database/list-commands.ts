/**
 * Splits a SQL script into commands. Recognizes quoted texts and names, comments, and dollar-quoted bodies,
 * but not bodies of the form `begin atomic … end`.
 */
const PIECES = [
  String.raw`--[^\n]*`,
  String.raw`/\*[\s\S]*?(?:\*/|$)`,
  String.raw`(?<![\w$])e'(?:[^'\\]|\\[\s\S]|'')*'`,
  `'(?:[^']|'')*'`,
  `"(?:[^"]|"")*"`,
  String.raw`(?<![\w$])(\$(?:[a-z_]\w*)?\$)[\s\S]*?(?:\1|$)`,
  ';',
];
const PIECE = new RegExp(PIECES.join('|'), 'giu');

/** The commands without the semicolons between them; none is empty. */
export function listCommands(script: string): readonly string[] {
  const commands: string[] = [];
  let begin = 0;
  let isEmpty = true;
  let read = 0;
  const end = (at: number) => {
    if (!isEmpty) commands.push(script.slice(begin, at).trim());
    begin = at + 1;
    isEmpty = true;
  };
  for (const { index, 0: piece } of script.matchAll(PIECE)) {
    if (script.slice(read, index).trim() !== '') isEmpty = false;
    read = index + piece.length;
    if (piece === ';') end(index);
    else if (!/^(?:--|\/\*)/.test(piece)) isEmpty = false;
  }
  if (script.slice(read).trim() !== '') isEmpty = false;
  end(script.length);
  return commands;
}
