/**
 * The headers of tus, the protocol for resumable uploads.
 *
 * @see https://tus.io/protocols/resumable-upload (1.0.0)
 */
import type { IncomingHttpHeaders } from 'node:http';
import { faultAt, type ServiceError, tryTo } from '../../../base/errors.js';
import { isBase64 } from '../../../base/text/base64.js';
import { CHECKSUM_ALGORITHMS, type UploadPiece } from '../../../services/files/resumable-uploads.js';

export const TUS_VERSION = '1.0.0';
/** The type of the body of a piece. */
export const PIECE_TYPE = 'application/offset+octet-stream';

/** The headers that announce the supported version and extensions. */
export function tusHeaders(maxBytes: number): Readonly<Record<string, string>> {
  return {
    'tus-resumable': TUS_VERSION,
    'tus-version': TUS_VERSION,
    'tus-extension': 'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination',
    'tus-max-size': String(maxBytes),
    'tus-checksum-algorithm': CHECKSUM_ALGORITHMS.join(','),
  };
}

/** The entries of `Upload-Metadata` that we use; others are ignored. */
export interface UploadMetadata {
  readonly name: string | undefined;
  readonly contentType: string | undefined;
  readonly collection: string | undefined;
  readonly recordId: string | undefined;
  readonly roles: string | undefined;
  /** The collection that the file is to be imported into. */
  readonly importInto: string | undefined;
}

const MOST_METADATA = 4096;
const WHOLE_NUMBER = /^\d{1,15}$/;

/**
 * A number of bytes. A duplicate header arrives joined by a comma, and is not a number.
 *
 * @throws MALFORMED_REQUEST
 */
export function parseByteCount(
  headers: IncomingHttpHeaders,
  name: 'Upload-Length' | 'Upload-Offset',
): number {
  const text = headers[name.toLowerCase()];
  if (typeof text === 'string' && WHOLE_NUMBER.test(text)) return Number(text);
  throw malformed(name, text === undefined ? 'it is missing' : 'it is not a number of bytes');
}

/**
 * The length announced for an upload; `undefined` if it will be given later.
 *
 * @throws MALFORMED_REQUEST
 */
export function parseUploadLength(headers: IncomingHttpHeaders): number | undefined {
  const isDeferred = headers['upload-defer-length'];
  if (isDeferred === undefined) return parseByteCount(headers, 'Upload-Length');
  if (isDeferred === '1' && headers['upload-length'] === undefined) return undefined;
  throw malformed('Upload-Defer-Length', 'expected: 1, without Upload-Length');
}

/**
 *   metadata : pair ( "," pair )*
 *   pair     : key [ " " value ]        the value a text of UTF-8 in base64
 *
 * @throws MALFORMED_REQUEST
 */
export function parseMetadata(header: string | undefined): UploadMetadata {
  const values = new Map<string, string>();
  if (header !== undefined && header.length > MOST_METADATA) {
    throw malformed('Upload-Metadata', `it has more than ${MOST_METADATA} characters`);
  }
  for (const pair of header === undefined || header === '' ? [] : header.split(',')) {
    const [key = '', value = '', ...more] = pair.trim().split(' ');
    if (key === '' || more.length > 0 || values.has(key)) {
      throw malformed('Upload-Metadata', 'expected: keys, each once, with a space and a value in base64');
    }
    values.set(key, decoded(key, value));
  }
  const get = (...names: readonly string[]) => names.map((name) => values.get(name)).find(Boolean);
  return {
    // Clients name these two entries differently.
    name: get('filename', 'name'),
    contentType: get('filetype', 'type'),
    collection: get('collection'),
    recordId: get('recordId'),
    roles: get('roles'),
    importInto: get('import'),
  };
}

/** `sha1 <base64>`, and others of `CHECKSUM_ALGORITHMS`. @throws MALFORMED_REQUEST */
export function parseChecksum(header: string | string[] | undefined): UploadPiece['checksum'] {
  if (header === undefined) return undefined;
  const [name = '', value = '', ...more] = String(header).split(' ');
  const algorithm = CHECKSUM_ALGORITHMS.find((one) => one === name);
  if (algorithm === undefined) {
    throw malformed('Upload-Checksum', `expected one of ${CHECKSUM_ALGORITHMS.join(', ')} and its value`);
  }
  const digest = Buffer.from(value, 'base64');
  if (more.length > 0 || !isBase64(value) || digest.length !== DIGEST_BYTES[algorithm]) {
    throw malformed('Upload-Checksum', `it is not a ${algorithm} in base64`);
  }
  return { algorithm, digest };
}

const DIGEST_BYTES: Readonly<Record<(typeof CHECKSUM_ALGORITHMS)[number], number>> = {
  sha1: 20,
  sha256: 32,
  sha512: 64,
};

function decoded(key: string, value: string): string {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const text = isBase64(value) ? tryTo(() => utf8.decode(Buffer.from(value, 'base64'))) : undefined;
  if (text !== undefined) return text;
  throw malformed('Upload-Metadata', `the value of ${key.slice(0, 50)} is not UTF-8 text in base64`);
}

function malformed(parameter: string, detail: string): ServiceError {
  return faultAt('MALFORMED_REQUEST', `${parameter}: ${detail}`, { parameter, detail });
}
