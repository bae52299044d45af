/** Encrypts texts that only this service can decrypt, and only for the same domain. */
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';
import { invariant, ServiceError } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import { countIn } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import { loadServiceSecret, parseSecrets } from './service-secret.js';

export interface EncryptionKey {
  /** Part of the encrypted text, so that keys can be rotated. */
  readonly id: string;
  readonly key: Buffer;
}

/** The setting that stores the secret if none is configured. */
const SETTING = 'encryptionSecret';

const VERSION = 'cge1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The keys for encrypted texts; the first one encrypts, all of them decrypt.
 *
 * `encryptionSecret` (ENCRYPTION_SECRET) contains one secret, or several separated by white space. To rotate,
 * put the new one first, and keep an old one for as long as there are texts encrypted with it. Without it a
 * random secret is created and stored in the database.
 */
export async function loadEncryptionKeys(
  database: Database,
  options: { readonly encryptionSecret: string | undefined },
): Promise<readonly EncryptionKey[]> {
  return parseEncryptionSecrets(options.encryptionSecret ?? (await loadServiceSecret(database, SETTING)));
}

export function parseEncryptionSecrets(text: string): readonly EncryptionKey[] {
  return parseSecrets(text, 'ENCRYPTION_SECRET').map((secret) => ({
    id: hash('sha256', `campus-gateway encryption key id ${secret}`, 'base64url').slice(0, 8),
    key: Buffer.from(hkdfSync('sha256', secret, '', 'campus-gateway encrypted texts', 32)),
  }));
}

/**
 * AES-256-GCM with a random nonce: `cge1.<key id>.<nonce, text and tag>`. Domain and key are authenticated
 * too, so that a text of another domain, or a modified one, does not decrypt.
 */
export class TextEncryption {
  readonly #current: EncryptionKey;
  readonly #keysById: ReadonlyMap<string, EncryptionKey>;

  constructor(keys: readonly EncryptionKey[]) {
    const [current] = keys;
    invariant(current, 'texts need a key to be encrypted with');
    this.#current = current;
    this.#keysById = new Map(keys.map((key) => [key.id, key]));
  }

  /** The condition that this service has the key with which the text in a column is encrypted. */
  hasKeyOf(column: Sql): Sql {
    return sql`split_part(${column}, '.', 2) = any(${[...this.#keysById.keys()]}::text[])`;
  }

  encrypt(domainId: string, text: string): string {
    const { id, key } = this.#current;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(authenticated(domainId, id));
    const encrypted = Buffer.concat([
      nonce,
      cipher.update(text, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return `${VERSION}.${id}.${encrypted.toString('base64url')}`;
  }

  /**
   * @throws INVALID_VALUE for a malformed or modified text, one of another domain, or one whose key is gone
   */
  decrypt(domainId: string, encrypted: string): string {
    const [version, id = '', body = ''] = encrypted.split('.');
    const bytes = Buffer.from(body, 'base64url');
    // The same bytes have several base64 encodings; only ours is accepted.
    const isOurs = version === VERSION && encrypted === `${VERSION}.${id}.${bytes.toString('base64url')}`;
    if (!isOurs || bytes.length < NONCE_BYTES + TAG_BYTES) {
      throw invalid('this is not a text that was encrypted here: it begins with `cge1.`');
    }
    const key = this.#keysById.get(id);
    if (key === undefined) {
      throw invalid(`the key ${id} it was encrypted with is not among those of ENCRYPTION_SECRET any more`);
    }
    const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(authenticated(domainId, id));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      throw invalid('the encrypted text was changed, or belongs to another domain');
    }
  }
}

function authenticated(domainId: string, keyId: string): Buffer {
  return Buffer.from(`${VERSION}\n${keyId}\n${domainId}`, 'utf8');
}

function invalid(reason: string): ServiceError {
  return new ServiceError('INVALID_VALUE', `The text cannot be decrypted: ${reason}.`);
}

/**
 * How many secrets of webhooks and second factors were encrypted with a key that ENCRYPTION_SECRET does not
 * contain. Their deliveries wait, and their users cannot log in by a code.
 */
export async function countSecretsWithoutKey(
  database: Pick<Database, 'query'>,
  encryption: TextEncryption,
): Promise<number> {
  const stored = sql`(select secret from webhooks union all select secret from second_factors) as stored`;
  return await countIn(database, sql`${stored} where not ${encryption.hasKeyOf(sql`secret`)}`);
}
