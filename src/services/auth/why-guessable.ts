/** Passwords that are tried first: common ones, words of their owner, repetitions and sequences. */

/** The owner of the new password. */
export interface PasswordOwner {
  readonly userName: string;
  /** Full name. */
  readonly name: string;
  readonly email?: string | undefined;
  /** The name of the school. */
  readonly domainName: string;
}

/** Words that are short for the list of common passwords, and common as a part of one. */
const COMMON_WORDS = (
  'abc admin administrator changeme computer demo guest hello india letmein login master passwd password ' +
  'principal qwerty root school secret student teacher test user welcome'
).split(' ');
/** No name tells more in its further letters. */
const MOST_LETTERS_OF_NAME = 200;
const SHORTEST_WORD = 3;
/** Usual additions that turn a word into a password: a year, an exclamation mark. */
const FEWEST_LETTERS_ADDED = 3;
const FEWEST_ADDED = 9;
const FEWEST_CHARACTERS = 4;
const LONGEST_REPEATED = 4;

/** Why a password is easy to guess; `undefined`: it is not. `common`: passwords in lower case, one a line. */
export function whyGuessable(password: string, common: string, owner: PasswordOwner): string | undefined {
  const folded = fold(password);
  const isCommon = (text: string) => common.includes(`\n${text}\n`);
  const core = folded.replace(/^\P{L}+/u, '');
  const end = core.search(/\P{L}*$/u);
  const spelled = withoutLeet(core.slice(0, end));
  const added = folded.length - spelled.length;
  if (isCommon(folded) || (added < FEWEST_ADDED && isCommon(spelled)))
    return 'This password is one of the most common. Choose another, e.g. several unrelated words.';
  if (isRepetition(folded)) return 'This password repeats a few characters or counts up. Choose another.';
  if (isMadeOf(bare(folded), owner) || isMadeOf(bare(withoutLeet(folded)), owner))
    return 'This password is made of the name of the user or school, or of a common word. Choose another.';
  return undefined;
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** The letters that digits and signs stand for, as in `p@ssw0rd`. */
function withoutLeet(text: string): string {
  return text.replaceAll(/[@4013$5!]/g, (sign) => LEET[sign] ?? sign);
}

const LEET: Readonly<Record<string, string>> = {
  ...{ '@': 'a', '4': 'a', '0': 'o', '1': 'l', '3': 'e', $: 's', '5': 's', '!': 'i' },
};

function bare(text: string): string {
  return text.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
}

/** Whether a text consists of words of the owner, or common ones, and little else. */
function isMadeOf(text: string, owner: PasswordOwner): boolean {
  const { userName, name, email = '', domainName } = owner;
  const names = [userName, name, email, domainName].map((one) => fold(one.slice(0, MOST_LETTERS_OF_NAME)));
  const words = [
    ...COMMON_WORDS,
    ...names.map(bare),
    ...names.flatMap((one) => one.split(/[^\p{L}\p{M}\p{N}]+/u)),
  ]
    .filter((word) => word.length >= SHORTEST_WORD)
    .sort((one, other) => other.length - one.length);
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), text);
  if (rest.length === text.length || rest.length >= FEWEST_ADDED) return false;
  return rest.replaceAll(/\p{N}/gu, '').length < FEWEST_LETTERS_ADDED;
}

/** Whether it has few characters, repeats a few, or is a sequence, as `abcdefgh` and `87654321`. */
function isRepetition(text: string): boolean {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  if (new Set(points).size < FEWEST_CHARACTERS) return true;
  for (let length = 1; length <= LONGEST_REPEATED; length += 1)
    if (points.every((point, index) => index < length || point === points[index - length])) return true;
  const steps = new Set(points.slice(1).map((point, index) => point - (points[index] ?? 0)));
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}
