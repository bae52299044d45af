/**
 * Serves resumable uploads by tus, on the paths of files, for requests with `Tus-Resumable`.
 *
 * @see https://tus.io/protocols/resumable-upload (1.0.0)
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { faultAt, ServiceError, tryTo } from '../../../base/errors.js';
import { isBase64 } from '../../../base/text/base64.js';
import {
  CHECKSUM_ALGORITHMS,
  type ResumableUploads,
  type UploadPiece,
} from '../../../services/files/resumable-uploads.js';
import type { OpenUpload } from '../../../services/files/stored-file.js';
import type { Imports } from '../../../services/importing/imports.js';
import { requireScope } from '../../resolvers/request-context.js';
import { toLink } from '../../resolvers/services/file-resolver.js';
import { hasBody } from '../admission/request-admission.js';
import { readCompleteBody, whileReceiving } from '../sending/streamed-body.js';

export interface TusServingOptions {
  readonly uploads: ResumableUploads;
  readonly imports: Pick<Imports, 'rights' | 'most'>;
  /** How long a sender may pause before it is cut off. */
  readonly stallMs: number;
}

type UploadRequest = FastifyRequest<{ Params: { id: string } }>;

const FILES_PATH = /^\/files(?:[/?]|$)/;
const UPLOAD_PATH = /^\/files\/[^/?]+/;

/** Announces tus in the answer to OPTIONS. Register it before the plugin that answers CORS preflights. */
export function useTusDiscovery(
  app: FastifyInstance,
  { uploads, imports }: Omit<TusServingOptions, 'stallMs'>,
): void {
  const most = Math.max(uploads.most.bytes, imports.most.bytes);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method === 'OPTIONS' && FILES_PATH.test(request.url)) reply.headers(tusHeaders(most));
    done();
  });
}

/**
 * Applies `X-HTTP-Method-Override` for tus clients that can send only GET and POST. Only on upload paths:
 * elsewhere a method that is refused must stay refused.
 */
export function applyMethodOverride(request: IncomingMessage): void {
  const { headers, method, url = '' } = request;
  const meant = headers['x-http-method-override'];
  if (method !== 'POST' || !UPLOAD_PATH.test(url) || headers['tus-resumable'] === undefined) return;
  if (meant === 'PATCH' || meant === 'DELETE') request.method = meant;
}

/** Whether a request uses tus; its answers then do too. @throws PROTOCOL_VERSION for another version */
export function speaksTus({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  const version = headers['tus-resumable'];
  if (version === undefined) return false;
  reply.header('tus-resumable', TUS_VERSION);
  if (version === TUS_VERSION) return true;
  reply.header('tus-version', TUS_VERSION);
  throw new ServiceError('PROTOCOL_VERSION', `Tus-Resumable: ${TUS_VERSION} is spoken here`);
}

/** `POST /files`: creates an upload, with its first piece if there is one. */
export async function openUpload(request: FastifyRequest, reply: FastifyReply, services: TusServingOptions) {
  const { uploads, imports } = services;
  const scope = requireScope(request.requestContext);
  const { headers, raw } = request;
  const length = parseUploadLength(headers);
  const sent = headers['upload-metadata']?.toString();
  const metadata = parseMetadata(sent);
  const { importInto: collection } = metadata;
  if (collection !== undefined) imports.rights.assertMayImport(scope, collection);
  const opened = await uploads.open(scope, {
    length,
    name: metadata.name ?? 'upload',
    contentType: metadata.contentType,
    roles: rolesIn(metadata.roles),
    link: toLink(metadata.collection, metadata.recordId),
    metadata: sent,
    importInto: collection === undefined ? undefined : { collection, most: imports.most },
  });
  reply.header('location', `/files/${opened.id}`);
  const piece = hasBody(raw) ? pieceOf(request, { offset: 0, length: opened.length }) : undefined;
  const upload = piece ? await take(request, reply, services, opened.id, piece) : opened;
  return setUploadHeaders(reply.code(201), upload).send();
}

/** The roles that may read a file, separated by commas. */
export function rolesIn(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((role) => role.trim())
    .filter(Boolean);
}

/** `HEAD /files/<id>`: how much has arrived. */
export async function answerUploadOffset(
  request: UploadRequest,
  reply: FastifyReply,
  { uploads }: TusServingOptions,
) {
  const upload = await uploads.get(requireScope(request.requestContext), request.params.id);
  reply.header('cache-control', 'no-store');
  if (upload.isLengthDeferred) reply.header('upload-defer-length', '1');
  else reply.header('upload-length', String(upload.length));
  if (upload.metadata !== undefined) reply.header('upload-metadata', upload.metadata);
  return setUploadHeaders(reply.code(200), upload).send();
}

/** `PATCH /files/<id>`: appends the next piece. */
export async function appendToUpload(
  request: UploadRequest,
  reply: FastifyReply,
  services: TusServingOptions,
) {
  const { id } = request.params;
  const scope = requireScope(request.requestContext);
  const offset = parseByteCount(request.headers, 'Upload-Offset');
  const isLengthSaid = request.headers['upload-length'] !== undefined;
  const { length } = isLengthSaid
    ? await services.uploads.sayLength(scope, id, parseByteCount(request.headers, 'Upload-Length'))
    : await services.uploads.get(scope, id);
  const upload = await take(request, reply, services, id, pieceOf(request, { offset, length }));
  return setUploadHeaders(reply.code(204), upload).send();
}

/** Refuses a wrong request before its body is requested. @throws UNSUPPORTED_MEDIA_TYPE */
export function assertIsPiece({ headers }: FastifyRequest): void {
  if (headers['content-type'] === PIECE_TYPE) return;
  throw new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    `A piece of an upload is sent as Content-Type: ${PIECE_TYPE}.`,
  );
}

/** @throws MALFORMED_REQUEST; TOO_LARGE if more is announced than fits */
function pieceOf(
  request: FastifyRequest,
  upload: { readonly offset: number; readonly length: number },
): UploadPiece {
  assertIsPiece(request);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (upload.offset + announced > upload.length) {
    throw new ServiceError(
      'TOO_LARGE',
      `${announced} bytes at ${upload.offset} are more than the upload is to have: ${upload.length}.`,
    );
  }
  const checksum = parseChecksum(request.headers['upload-checksum']);
  return { offset: upload.offset, bytes: readCompleteBody(request.raw), checksum };
}

async function take(
  request: FastifyRequest,
  reply: FastifyReply,
  { uploads, stallMs }: TusServingOptions,
  id: string,
  piece: UploadPiece,
): Promise<OpenUpload> {
  const work = () => uploads.append(requireScope(request.requestContext), id, piece);
  return await whileReceiving(request, reply, { stallMs, work });
}

function setUploadHeaders(reply: FastifyReply, { offset, expiresAt }: OpenUpload): FastifyReply {
  reply.header('upload-offset', String(offset));
  if (expiresAt !== undefined) reply.header('upload-expires', expiresAt.toUTCString());
  return reply;
}

const TUS_VERSION = '1.0.0';
/** The type of the body of a piece. */
const PIECE_TYPE = 'application/offset+octet-stream';

/** The headers that announce the supported version and extensions. */
function tusHeaders(maxBytes: number): Readonly<Record<string, string>> {
  return {
    'tus-resumable': TUS_VERSION,
    'tus-version': TUS_VERSION,
    'tus-extension': 'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination',
    'tus-max-size': String(maxBytes),
    'tus-checksum-algorithm': CHECKSUM_ALGORITHMS.join(','),
  };
}

const MOST_METADATA = 4096;
const WHOLE_NUMBER = /^\d{1,15}$/;

/**
 * A number of bytes. A duplicate header arrives joined by a comma, and is not a number.
 *
 * @throws MALFORMED_REQUEST
 */
function parseByteCount(headers: IncomingHttpHeaders, name: 'Upload-Length' | 'Upload-Offset'): number {
  const text = headers[name.toLowerCase()];
  if (typeof text === 'string' && WHOLE_NUMBER.test(text)) return Number(text);
  throw malformed(name, text === undefined ? 'it is missing' : 'it is not a number of bytes');
}

/**
 * The length announced for an upload; `undefined` if it will be given later.
 *
 * @throws MALFORMED_REQUEST
 */
function parseUploadLength(headers: IncomingHttpHeaders): number | undefined {
  const isDeferred = headers['upload-defer-length'];
  if (isDeferred === undefined) return parseByteCount(headers, 'Upload-Length');
  if (isDeferred === '1' && headers['upload-length'] === undefined) return undefined;
  throw malformed('Upload-Defer-Length', 'expected: 1, without Upload-Length');
}

/**
 * The entries of `Upload-Metadata` that we use; others are ignored.
 *
 *   metadata : pair ( "," pair )*
 *   pair     : key [ " " value ]        the value a text of UTF-8 in base64
 *
 * @throws MALFORMED_REQUEST
 */
function parseMetadata(header: string | undefined) {
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
    /** The collection that the file is to be imported into. */
    importInto: get('import'),
  };
}

/** `sha1 <base64>`, and others of `CHECKSUM_ALGORITHMS`. @throws MALFORMED_REQUEST */
function parseChecksum(header: string | string[] | undefined): UploadPiece['checksum'] {
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
