/** Password hashing by argon2id, with the same effort whether or not the user exists. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { ServiceError } from '../../base/errors.js';
import { type PasswordOwner, whyGuessable } from './why-guessable.js';

/** The cost of one hash. */
export interface PasswordCost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/**
 * 19 MiB and two passes: the first choice for argon2id in the OWASP Password Storage Cheat Sheet; some 20 ms
 * of one core.
 */
const PASSWORD_COST: PasswordCost = { memoryKib: 19_456, passes: 2, lanes: 1 };

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
    return hash(normalize(password), this.#options());
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

  #options(): { memoryCost: number; timeCost: number; parallelism: number } {
    return {
      memoryCost: this.#cost.memoryKib,
      timeCost: this.#cost.passes,
      parallelism: this.#cost.lanes,
    };
  }
}

function normalize(password: string): string {
  return password.normalize('NFC');
}

/** `undefined` for a text that is not an argon2id hash, e.g. an imported "no password". */
function parseCost(stored: string): PasswordCost | undefined {
  if (!stored.startsWith('$argon2id$')) return undefined;
  try {
    const { memoryCost, timeCost, parallelism } = parseOptions(stored);
    return { memoryKib: memoryCost, passes: timeCost, lanes: parallelism };
  } catch {
    return undefined;
  }
}

function isSameCost(one: PasswordCost, other: PasswordCost): boolean {
  return one.memoryKib === other.memoryKib && one.passes === other.passes && one.lanes === other.lanes;
}

/** A well-formed hash that no password matches: its digest is random. */
function printDecoy(cost: PasswordCost): string {
  const parameters = `m=${cost.memoryKib},t=${cost.passes},p=${cost.lanes}`;
  return `$argon2id$v=19$${parameters}$${unpaddedBase64(16)}$${unpaddedBase64(32)}`;
}

function unpaddedBase64(byteLength: number): string {
  return randomBytes(byteLength).toString('base64').replaceAll('=', '');
}
