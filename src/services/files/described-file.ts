/** The sender's description of a file: its name, type, and the roles that may read it. */

import { createHash, type Hash } from 'node:crypto';
import { invalidAt, ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import type { StoredFile } from './stored-file.js';

export interface DescribedFile {
  readonly name: string;
  /** Default `application/octet-stream`. */
  readonly contentType?: string | undefined;
  readonly roles?: readonly string[] | undefined;
}

const MAX_NAME = 255;
const MAX_ROLES = 20;
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;\s*[\w-]+=[\w."+/ -]{1,100})*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a header
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029\ud800-\udfff]/;

/** Validates and normalizes the description. @throws INVALID_VALUE */
export function assertDescribed(file: DescribedFile): Pick<StoredFile, 'name' | 'contentType' | 'roles'> {
  // Some clients send a path; only its last part is the name.
  const name = (file.name.split(/[/\\]/).at(-1) ?? '').trim().normalize('NFC');
  if (name === '' || name === '.' || name === '..' || name.length > MAX_NAME || CONTROL.test(name)) {
    throw invalid('name', 'not the name of a file', `1 to ${MAX_NAME} characters in one line`, file.name);
  }
  const contentType = file.contentType || 'application/octet-stream';
  if (!MEDIA_TYPE.test(contentType)) {
    throw invalid('contentType', 'not a media type', 'e.g. application/pdf', contentType);
  }
  const roles = file.roles ?? [];
  if (roles.length > MAX_ROLES || !roles.every((role) => /^[\w.-]{1,64}$/.test(role))) {
    throw invalid('roles', 'not names of roles', `at most ${MAX_ROLES} names`, roles.join(','));
  }
  return { name, contentType, roles };
}

function invalid(parameter: string, detail: string, expected: string, sent: string): ServiceError {
  return invalidAt(`this file cannot be kept: ${parameter} is ${detail}`, {
    parameter,
    detail,
    expected,
    sent: sent.slice(0, 100),
  });
}

/** The size limit of a file, and the setting that defines it. */
export interface MostBytes {
  readonly bytes: number;
  readonly setting: string;
}

/** @throws TOO_LARGE */
export function assertAtMost(bytes: number, most: MostBytes): void {
  if (bytes <= most.bytes) return;
  throw new ServiceError('TOO_LARGE', `A file has at most ${most.bytes} bytes here (${most.setting}).`);
}

/**
 * Counts bytes as they pass, and hashes them if an algorithm is given. `assertFits` throws when there are too
 * many.
 */
export class CountedBytes implements AsyncIterable<Buffer> {
  size = 0;
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #hash: Hash | undefined;
  readonly #assertFits: (size: number) => void;

  constructor(
    bytes: AsyncIterable<Uint8Array>,
    algorithm: string | undefined,
    assertFits: (size: number) => void,
  ) {
    this.#bytes = bytes;
    this.#hash = algorithm === undefined ? undefined : createHash(algorithm);
    this.#assertFits = assertFits;
  }

  /** Call it once, when all bytes have passed. @throws if no algorithm was given */
  get digest(): Buffer {
    if (this.#hash === undefined) throw new Error('These bytes are not hashed');
    return this.#hash.digest();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for await (const chunk of this.#bytes) {
      this.size += chunk.length;
      this.#assertFits(this.size);
      this.#hash?.update(chunk);
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  }
}

/** The same chunks. @throws once the caller has lost the right to go on */
export async function* whileAllowed<Chunk>(
  chunks: AsyncIterable<Chunk>,
  scope: Scope,
): AsyncGenerator<Chunk, void> {
  for await (const chunk of chunks) {
    await scope.call.assertRights?.();
    yield chunk;
  }
}
