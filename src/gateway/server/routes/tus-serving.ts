/** Serves resumable uploads by tus 1.0, on the paths of files, for requests with `Tus-Resumable`. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import type { ResumableUploads, UploadPiece } from '../../../services/files/resumable-uploads.js';
import type { OpenUpload } from '../../../services/files/stored-file.js';
import type { Imports } from '../../../services/importing/imports.js';
import { requireScope } from '../../resolvers/request-context.js';
import { toLink } from '../../resolvers/services/file-resolver.js';
import { hasBody } from '../admission/request-admission.js';
import { readCompleteBody } from '../sending/read-complete-body.js';
import { endWithUnreadBody } from '../sending/unread-body.js';
import {
  PIECE_TYPE,
  parseByteCount,
  parseChecksum,
  parseMetadata,
  parseUploadLength,
  TUS_VERSION,
  tusHeaders,
} from './tus-headers.js';

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
  const text = headers['upload-metadata'];
  const metadata = parseMetadata(text === undefined ? undefined : String(text));
  const { importInto: collection } = metadata;
  if (collection !== undefined) imports.rights.assertMayImport(scope, collection);
  const opened = await uploads.open(scope, {
    length,
    name: metadata.name ?? 'upload',
    contentType: metadata.contentType,
    roles: metadata.roles
      ?.split(',')
      .map((role) => role.trim())
      .filter(Boolean),
    link: toLink(metadata.collection, metadata.recordId),
    metadata: text === undefined ? undefined : String(text),
    importInto: collection === undefined ? undefined : { collection, most: imports.most },
  });
  reply.header('location', `/files/${opened.id}`);
  const piece = hasBody(raw) ? pieceOf(request, { offset: 0, length: opened.length }) : undefined;
  const upload = piece ? await take(request, reply, services, opened.id, piece) : opened;
  return setUploadHeaders(reply.code(201), upload).send();
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
  request.raw.setTimeout(stallMs);
  try {
    return await uploads.append(requireScope(request.requestContext), id, piece);
  } catch (error) {
    endWithUnreadBody(request.raw, reply);
    throw error;
  }
}

function setUploadHeaders(reply: FastifyReply, { offset, expiresAt }: OpenUpload): FastifyReply {
  reply.header('upload-offset', String(offset));
  if (expiresAt !== undefined) reply.header('upload-expires', expiresAt.toUTCString());
  return reply;
}
