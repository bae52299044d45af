/** `platform.crypto`: hashes, signatures and codings, computed by Node. */
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { bindFunction } from './arguments.js';
import type { FunctionBinding } from './host-binding.js';

const MOST_RANDOM_BYTES = 1024;

const algorithm = z.enum(['sha256', 'sha384', 'sha512', 'sha1', 'md5']);
const encoding = z.enum(['hex', 'base64', 'base64url']).default('hex');
/** A text counts by its UTF-8 bytes; other bytes come in a coding. */
const bytes = z.union(
  [
    z.string(),
    z.strictObject({ base64: z.base64() }),
    z.strictObject({ base64url: z.base64url() }),
    z.strictObject({ hex: z.string().regex(/^(?:[0-9a-f]{2})*$/i) }),
  ],
  'expected a text, or bytes as { base64 }, { base64url } or { hex }',
);

export function createCryptoBindings(): readonly FunctionBinding[] {
  return [
    bindFunction(
      'crypto.hash',
      { algorithm, data: bytes, encoding },
      ({ algorithm: name, data, encoding: form }) => createHash(name).update(toBytes(data)).digest(form),
    ),
    bindFunction('crypto.hmac', { algorithm, key: bytes, data: bytes, encoding }, (given) =>
      createHmac(given.algorithm, toBytes(given.key)).update(toBytes(given.data)).digest(given.encoding),
    ),
    bindFunction('crypto.isEqual', { one: z.string(), other: z.string() }, ({ one, other }) => {
      // Of equal length, whatever the texts, so that the time says nothing of them.
      const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
      return first !== undefined && second !== undefined && timingSafeEqual(first, second);
    }),
    bindFunction('crypto.encode', { data: bytes, encoding: encoding.unwrap().default('base64') }, (given) =>
      toBytes(given.data).toString(given.encoding),
    ),
    bindFunction('crypto.decode', { data: bytes }, ({ data }) => toBytes(data).toString('utf8')),
    bindFunction('crypto.uuid', {}, () => randomUUID()),
    bindFunction(
      'crypto.random',
      { size: z.number().int().min(1).max(MOST_RANDOM_BYTES), encoding },
      (given) => randomBytes(given.size).toString(given.encoding),
    ),
  ];
}

function toBytes(data: z.output<typeof bytes>): Buffer {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  if ('base64' in data) return Buffer.from(data.base64, 'base64');
  return 'hex' in data ? Buffer.from(data.hex, 'hex') : Buffer.from(data.base64url, 'base64url');
}
