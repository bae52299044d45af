/**
 * Patterns of texts, as declarations write them. A pattern is a part of the syntax of ECMAScript whose match
 * never takes more steps than the text is long times `MAX_POSITIONS`, so that no text makes it slow:
 *
 *   pattern    : branch ( "|" branch )*
 *   branch     : "^" ( atom quantifier? )* "$"
 *   atom       : a character, "." , an escape such as \d, or a class such as [A-Z0-9]
 *   quantifier : "?" | "*" | "+" | "{n}" | "{n,}" | "{n,m}"
 */

/** Plain data, which threads can be sent. */
export type LinearPattern = readonly (readonly Position[])[];

const MAX_POSITIONS = 200;
const ATOM = String.raw`(?<atom>\\(?:[pP]\{\w{1,40}\}|.)|\[\^?(?:\\.|[^\\[\]])+\]|[^\\[\](){}^$|*+?])`;
const QUANTIFIER = String.raw`(?:(?<sign>[?*+])|\{(?<least>\d{1,3})(?<open>,(?<most>\d{1,3})?)?\})?`;
const ITEM = new RegExp(ATOM + QUANTIFIER, 'suy');

interface Position {
  readonly atom: RegExp;
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
}

/** @throws Error with what is wrong, for the author of a declaration */
export function parseLinearPattern(source: string): LinearPattern {
  const branches = branchesOf(source).map(parseBranch);
  if (branches.flat().length > MAX_POSITIONS)
    throw new Error(`it stands for over ${MAX_POSITIONS} characters`);
  return branches;
}

export function matchesPattern(pattern: LinearPattern, text: string): boolean {
  return pattern.some((branch) => isMatch(branch, [...text]));
}

function branchesOf(source: string): string[] {
  const branches = [''];
  let isInClass = false;
  for (const [part] of source.matchAll(/\\.|./gsu)) {
    if (part === '|' && !isInClass) branches.push('');
    else branches[branches.length - 1] += part;
    if (part === '[') isInClass = true;
    else if (part === ']') isInClass = false;
  }
  return branches;
}

function parseBranch(branch: string): Position[] {
  if (!branch.startsWith('^') || !branch.endsWith('$') || branch.length < 2) {
    throw new Error(`"${branch}" does not begin with ^ and end with $`);
  }
  const body = branch.slice(1, -1);
  const positions: Position[] = [];
  ITEM.lastIndex = 0;
  while (ITEM.lastIndex < body.length) {
    const at = ITEM.lastIndex;
    const groups = ITEM.exec(body)?.groups;
    if (groups === undefined) throw new Error(`"${body.slice(at)}" is not a character, a class or an escape`);
    const { atom: text = '', sign, least, open, most } = groups;
    if (/^\\[1-9bBk]/.test(text)) throw new Error(`${text} is not allowed`);
    const atom = new RegExp(`^${text}$`, 'su');
    const [from, to] = timesOf({ sign, least, open, most });
    if (to < from) throw new Error(`the quantifier after ${text} has no number of times`);
    for (let n = 0; n < from; n++) positions.push({ atom, isOptional: false, isRepeated: false });
    if (to === Number.POSITIVE_INFINITY) positions.push({ atom, isOptional: true, isRepeated: true });
    else for (let n = from; n < to; n++) positions.push({ atom, isOptional: true, isRepeated: false });
  }
  return positions;
}

function timesOf({
  sign,
  least,
  open,
  most,
}: Readonly<Record<'sign' | 'least' | 'open' | 'most', string | undefined>>): readonly [number, number] {
  if (sign === '?') return [0, 1];
  if (sign === '*') return [0, Number.POSITIVE_INFINITY];
  if (sign === '+') return [1, Number.POSITIVE_INFINITY];
  if (least === undefined) return [1, 1];
  if (open === undefined) return [Number(least), Number(least)];
  return [Number(least), most === undefined ? Number.POSITIVE_INFINITY : Number(most)];
}

/** Follows all ways through the positions at once. */
function isMatch(positions: readonly Position[], characters: readonly string[]): boolean {
  let reached = withSkipped(positions, new Set([0]));
  for (const character of characters) {
    const next = new Set<number>();
    for (const at of reached) {
      const position = positions[at];
      if (position === undefined || !position.atom.test(character)) continue;
      next.add(at + 1);
      if (position.isRepeated) next.add(at);
    }
    if (next.size === 0) return false;
    reached = withSkipped(positions, next);
  }
  return reached.has(positions.length);
}

/** The iteration of a set includes members that are added during it. */
function withSkipped(positions: readonly Position[], reached: Set<number>): Set<number> {
  for (const at of reached) if (positions[at]?.isOptional) reached.add(at + 1);
  return reached;
}
