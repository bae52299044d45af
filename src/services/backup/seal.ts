/**
 * Encrypts a backup with a passphrase or key: AES-256-GCM in chunks, each authenticated by itself, whose
 * nonce holds the number of the chunk and whether it is the last one (the STREAM construction). Chunks cannot
 * be changed, left out, reordered or cut off without notice, and can be read in any order.
 *
 *   file   : header chunk+
 *   header : magic (15 bytes) kind (1) log2 of the cost (1) salt (16) nonce prefix (7) zeros, 64 bytes
 *   chunk  : 65,536 bytes encrypted, the last one fewer, and a tag of 16 bytes
 *   nonce  : prefix (7) number of the chunk (4, big-endian) 1 for the last one, else 0 (1)
 *
 * @see https://eprint.iacr.org/2015/189.pdf (Hoang, Reyhanitabar, Rogaway, Vizár)
 */
import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import { promisify } from 'node:util';
import { ServiceError } from '../../base/errors.js';
import type { ByteSource } from './open-archive.js';
import { readNamedFile } from './save-backup.js';

export type BackupSecret =
  | { readonly kind: 'passphrase'; readonly text: string }
  | { readonly kind: 'key'; readonly bytes: Buffer };

const MAGIC = Buffer.from('campus-sealed-1', 'latin1');
const KINDS = { passphrase: 1, key: 2 } as const;
const HEADER_BYTES = 64;
const SALT = { start: 17, end: 33 };
const PREFIX = { start: 33, end: 40 };
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
/** A guess takes 128 MiB and half a second. */
const SCRYPT_LOG_COST = 17;
/** The highest cost that a header may demand of its reader: 1 GiB. */
const MAX_SCRYPT_LOG_COST = 20;
const SCRYPT_BLOCK = 8;

const deriveByScrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Encrypts a stream chunk by chunk. */
export async function* seal(
  bytes: AsyncIterable<Buffer>,
  secret: BackupSecret,
): AsyncGenerator<Buffer, void> {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header[MAGIC.length] = KINDS[secret.kind];
  header[MAGIC.length + 1] = secret.kind === 'passphrase' ? SCRYPT_LOG_COST : 0;
  randomBytes(PREFIX.end - SALT.start).copy(header, SALT.start);
  const key = await deriveKey(header, secret);
  yield header;
  let number = 0;
  // A chunk is sealed once more bytes follow it, because the last chunk must be marked as the last.
  let held: Buffer = Buffer.alloc(0);
  for await (const part of bytes) {
    held = held.length === 0 ? part : Buffer.concat([held, part]);
    let start = 0;
    for (; held.length - start > CHUNK_BYTES; start += CHUNK_BYTES) {
      const place = { number: number++, isLast: false };
      yield sealChunk(key, header, place, held.subarray(start, start + CHUNK_BYTES));
    }
    held = held.subarray(start);
  }
  yield sealChunk(key, header, { number, isLast: true }, held);
}

/** Whether the source is an encrypted backup, by its first bytes. */
export async function isSealed(source: ByteSource): Promise<boolean> {
  if (source.size < HEADER_BYTES) return false;
  return (await source.read(0, MAGIC.length)).equals(MAGIC);
}

/**
 * Reads a sealed source at any offset. Closing it closes the source as well.
 *
 * @throws INVALID_VALUE, here and on reading, for a wrong secret or changed bytes
 */
export async function unseal(source: ByteSource, secret: BackupSecret): Promise<ByteSource> {
  const header = await source.read(0, HEADER_BYTES);
  const kind = header[MAGIC.length];
  if (kind !== KINDS[secret.kind]) {
    const wanted = kind === KINDS.key ? 'a key file' : 'a passphrase';
    throw new ServiceError('INVALID_VALUE', `The backup was not encrypted by this; it needs ${wanted}.`);
  }
  const key = await deriveKey(header, secret);
  const sealedBytes = source.size - HEADER_BYTES;
  const chunks = Math.max(1, Math.ceil(sealedBytes / (CHUNK_BYTES + TAG_BYTES)));
  const size = sealedBytes - chunks * TAG_BYTES;
  const readChunk = async (number: number): Promise<Buffer> => {
    const start = HEADER_BYTES + number * (CHUNK_BYTES + TAG_BYTES);
    const end = Math.min(start + CHUNK_BYTES + TAG_BYTES, source.size);
    if (end - start < TAG_BYTES) throw notOpened();
    const sealed = await source.read(start, end);
    return openChunk(key, header, { number, isLast: number === chunks - 1 }, sealed);
  };
  // A wrong secret fails here at once.
  await readChunk(0);
  return {
    size,
    async read(start, end) {
      if (start >= end) return Buffer.alloc(0);
      const first = Math.floor(start / CHUNK_BYTES);
      const parts: Buffer[] = [];
      for (let number = first; number * CHUNK_BYTES < end; number++) parts.push(await readChunk(number));
      const offset = first * CHUNK_BYTES;
      return Buffer.concat(parts).subarray(start - offset, end - offset);
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** Every byte of the header goes into the key, so a changed header gives another key. */
async function deriveKey(header: Buffer, secret: BackupSecret): Promise<Buffer> {
  const salt = header.subarray(SALT.start, SALT.end);
  const logCost = header[MAGIC.length + 1] ?? 0;
  if (logCost > MAX_SCRYPT_LOG_COST || (secret.kind === 'passphrase' && logCost < 1)) throw notOpened();
  const cost = { N: 2 ** logCost, r: SCRYPT_BLOCK, maxmem: 2 * 128 * SCRYPT_BLOCK * 2 ** logCost };
  const master =
    secret.kind === 'key' ? secret.bytes : await deriveByScrypt(secret.text.normalize('NFC'), salt, 32, cost);
  return Buffer.from(hkdfSync('sha256', master, salt, header, 32));
}

interface ChunkPlace {
  readonly number: number;
  readonly isLast: boolean;
}

function nonceOf(header: Buffer, { number, isLast }: ChunkPlace): Buffer {
  const nonce = Buffer.alloc(12);
  header.copy(nonce, 0, PREFIX.start, PREFIX.end);
  nonce.writeUInt32BE(number, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function sealChunk(key: Buffer, header: Buffer, place: ChunkPlace, bytes: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(header, place));
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function openChunk(key: Buffer, header: Buffer, place: ChunkPlace, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(header, place), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw notOpened(error);
  }
}

function notOpened(cause?: unknown): ServiceError {
  return new ServiceError(
    'INVALID_VALUE',
    'The backup does not open: the passphrase or key is wrong, or the file is damaged.',
    { cause },
  );
}

/** A shorter key could be guessed. */
const MIN_KEY_BYTES = 32;
/** The shortest passphrase. It may be shorter than a key because each guess costs half a second. */
const MIN_PASSPHRASE_LENGTH = 12;

/**
 * The key is all bytes of the file. @throws INVALID_VALUE if it is too short, UNAVAILABLE without the file
 */
export async function readKeyFile(file: string): Promise<BackupSecret> {
  const bytes = await readNamedFile(file);
  if (bytes.length >= MIN_KEY_BYTES) return { kind: 'key', bytes };
  throw new ServiceError(
    'INVALID_VALUE',
    `The key in ${file} has ${bytes.length} bytes, and ${MIN_KEY_BYTES} are the fewest that are safe ` +
      `(\`head -c 32 /dev/urandom > ${file}\` makes one).`,
  );
}

/** @throws INVALID_VALUE if the passphrase is too short */
export function toPassphrase(text: string): BackupSecret {
  if (text.length >= MIN_PASSPHRASE_LENGTH) return { kind: 'passphrase', text };
  throw new ServiceError(
    'INVALID_VALUE',
    `A passphrase of a backup has at least ${MIN_PASSPHRASE_LENGTH} characters.`,
  );
}

/** The secret that the settings name; a key file wins over a passphrase. `undefined`: no encryption. */
export async function backupSecretOfSettings(settings: {
  readonly backupKeyFile?: string | undefined;
  readonly backupPassphrase?: string | undefined;
}): Promise<BackupSecret | undefined> {
  if (settings.backupKeyFile !== undefined) return await readKeyFile(settings.backupKeyFile);
  if (settings.backupPassphrase !== undefined) return toPassphrase(settings.backupPassphrase);
  return undefined;
}
