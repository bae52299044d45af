/** Password hashing by argon2id, with the same effort whether or not the user exists. */
import { randomBytes } from 'node:crypto';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { ServiceError } from '../errors.js';

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
  readonly #decoy: string;

  constructor(options: { cost?: PasswordCost } = {}) {
    this.#cost = options.cost ?? PASSWORD_COST;
    this.#decoy = printDecoy(this.#cost);
  }

  /**
   * The hash to store, in PHC format. @throws INVALID_VALUE (400) unless the password has 8 to 128 characters
   */
  async hash(password: string): Promise<string> {
    assertAcceptablePassword(password);
    return hash(normalize(password), this.#options());
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

/** @throws INVALID_VALUE (400); the message never repeats the password. */
export function assertAcceptablePassword(password: string): void {
  const length = [...normalize(password)].length;
  if (length >= SHORTEST && length <= LONGEST) return;
  throw new ServiceError(
    'INVALID_VALUE',
    `A password has ${SHORTEST} to ${LONGEST} characters; this one has ${length}.`,
  );
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
