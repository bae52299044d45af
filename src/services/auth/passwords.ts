/** Password hashing by argon2id, with the same effort whether or not the user exists. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { ServiceError, tryTo } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import { sql } from '../../store/sql.js';
import { findUser, type UserRef } from './principals.js';

/** The cost of one hash: KiB of memory, passes and lanes. */
export type PasswordCost = Readonly<Record<'memoryCost' | 'timeCost' | 'parallelism', number>>;

/**
 * 19 MiB and two passes: the first choice for argon2id in the OWASP Password Storage Cheat Sheet; some 20 ms
 * of one core.
 */
const PASSWORD_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The minimum for new passwords, unless a setting overrides it. */
const SHORTEST = 8;
const LONGEST = 128;

export interface PasswordCheck {
  readonly isMatch: boolean;
  /** The stored hash has another cost than today's: rehash while the password is known. */
  readonly isOutdated: boolean;
}

/**
 * Hashes and checks passwords.
 *
 * Texts are normalized to Unicode NFC, so that a password typed on another keyboard is the same. @see
 * decisions 6
 */
export class Passwords {
  readonly #cost: PasswordCost;
  readonly #shortest: number;
  readonly #decoy: string;
  /** Read with the first new password. */
  #common: string | undefined;

  constructor(options: { cost?: PasswordCost | undefined; shortest?: number } = {}) {
    this.#cost = options.cost ?? PASSWORD_COST;
    this.#shortest = options.shortest ?? SHORTEST;
    this.#decoy = printDecoy(this.#cost);
  }

  /** The hash of a password that is known to be acceptable, or is none that anybody chose, in PHC format. */
  async hash(password: string): Promise<string> {
    return hash(normalize(password), this.#cost);
  }

  /**
   * The hash of a password that somebody chooses; `presentHash` is that of the one it replaces. Every way to
   * set a password leads here.
   *
   * @throws INVALID_VALUE (400) as `assertAcceptable`, and for the present password
   */
  async hashChosen(
    password: string,
    owner: PasswordOwner,
    presentHash?: string | undefined,
  ): Promise<string> {
    this.assertAcceptable(password, owner);
    if (presentHash !== undefined && (await this.check(presentHash, password)).isMatch)
      throw new ServiceError('INVALID_VALUE', 'This is the present password. Choose another.');
    return await this.hash(password);
  }

  /**
   * @throws INVALID_VALUE (400) for a password that is too short, too long or easy to guess; the message
   *   never repeats it
   */
  assertAcceptable(password: string, owner: PasswordOwner): void {
    const length = [...normalize(password)].length;
    if (length < this.#shortest || length > LONGEST)
      throw new ServiceError(
        'INVALID_VALUE',
        `A password has ${this.#shortest} to ${LONGEST} characters; this one has ${length}.`,
      );
    this.#common ??= readFileSync(new URL('../../../schema/common-passwords.txt', import.meta.url), 'utf8');
    const problem = whyGuessable(password, this.#common, owner);
    if (problem !== undefined) throw new ServiceError('INVALID_VALUE', problem);
  }

  /**
   * Compares a password with a stored hash. Without one (unknown user, no password) it does the same work on
   * a hash that nothing matches, so that the time discloses nothing.
   */
  async check(stored: string | undefined, password: string): Promise<PasswordCheck> {
    const cost = stored === undefined ? undefined : parseCost(stored);
    const isKnown = stored !== undefined && cost !== undefined;
    const isSame = await verify(isKnown ? stored : this.#decoy, normalize(password));
    const isMatch = isKnown && isSame;
    return { isMatch, isOutdated: isMatch && !isSameCost(cost, this.#cost) };
  }
}

function normalize(password: string): string {
  return password.normalize('NFC');
}

/** `undefined` for a text that is not an argon2id hash, e.g. an imported "no password". */
function parseCost(stored: string): PasswordCost | undefined {
  return stored.startsWith('$argon2id$') ? tryTo(() => parseOptions(stored)) : undefined;
}

function isSameCost(one: PasswordCost, other: PasswordCost): boolean {
  const isSame = (name: keyof PasswordCost) => one[name] === other[name];
  return isSame('memoryCost') && isSame('timeCost') && isSame('parallelism');
}

/** A well-formed hash that no password matches: its digest is random. */
function printDecoy(cost: PasswordCost): string {
  const parameters = `m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}`;
  return `$argon2id$v=19$${parameters}$${unpaddedBase64(16)}$${unpaddedBase64(32)}`;
}

function unpaddedBase64(byteLength: number): string {
  return randomBytes(byteLength).toString('base64').replaceAll('=', '');
}

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
/** Further letters of a name make no difference. */
const MOST_LETTERS_OF_NAME = 200;
const SHORTEST_WORD = 3;
/** Usual additions that turn a word into a password: a year, an exclamation mark. */
const FEWEST_LETTERS_ADDED = 3;
const FEWEST_ADDED = 9;
const FEWEST_CHARACTERS = 4;
const LONGEST_REPEATED = 4;

/** Why a password is easy to guess; `undefined`: it is not. `common`: passwords in lower case, one a line. */
function whyGuessable(password: string, common: string, owner: PasswordOwner): string | undefined {
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

/** The words a user's new password must not contain, and the hash of the current one. */
export async function findPasswordOwner(
  database: Database,
  { domainId, userId }: UserRef,
): Promise<{ readonly owner: PasswordOwner; readonly presentHash: string | undefined }> {
  // Two queries, because records may be on another server than logins.
  const user = await findUser(database, { domainId, userId });
  const [login] = await database.query<{ domainName: string | null; hash: string | null }>(sql`
    select
      (select name from domains where id = ${domainId}) as "domainName",
      (select password_hash from credentials where domain_id = ${domainId} and user_id = ${userId}) as hash`);
  const { userName = '', name = '', email } = user ?? {};
  return {
    owner: { userName, name, email, domainName: login?.domainName ?? '' },
    presentHash: login?.hash ?? undefined,
  };
}
