/** Serves files: uploads and downloads, both streamed, with HTTP conditions and ranges. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import multipart, { type Multipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { faultAt, ServiceError } from '../../../base/errors.js';
import { isUnchanged } from '../../../base/http/etag.js';
import { resetConnection } from '../../../base/http/text-answer.js';
import { contentDispositionOf, parseByteRange } from '../../../services/files/content-disposition.js';
import { whileAllowed } from '../../../services/files/described-file.js';
import type { Files, NewFile } from '../../../services/files/files.js';
import type { StoredFile } from '../../../services/files/stored-file.js';
import { requireScope } from '../../resolvers/request-context.js';
import { describeFile, toLink } from '../../resolvers/services/file-resolver.js';
import { UPLOAD_PARAMETERS } from '../../rest/file-routes.js';
import { FILE_HEADERS } from '../sending/security-headers.js';
import {
  brokenOff,
  leaveBodiesToRoutes,
  readCompleteBody,
  STREAMED_BODY,
  whileReceiving,
} from '../sending/streamed-body.js';
import {
  answerUploadOffset,
  appendToUpload,
  assertIsPiece,
  openUpload,
  rolesIn,
  speaksTus,
  type TusServingOptions,
} from './tus.js';

export interface FileServingOptions extends Pick<TusServingOptions, 'imports'> {
  readonly files: Files;
  /** How long a reader or sender may pause before it is cut off. */
  readonly stallMs: number;
}

type Described = Readonly<Record<string, string | undefined>>;

const MAX_FIELD_BYTES = 4096;
const MAX_PART_HEADERS = 20;
const NAMES = new Set(UPLOAD_PARAMETERS.map(({ name }) => name));

export async function useFiles(app: FastifyInstance, options: FileServingOptions): Promise<void> {
  leaveBodiesToRoutes(app);
  await app.register(multipart, {
    throwFileSizeLimit: false,
    limits: {
      fileSize: Number.MAX_SAFE_INTEGER,
      files: 1,
      fields: NAMES.size,
      fieldSize: MAX_FIELD_BYTES,
      parts: NAMES.size + 1,
      headerPairs: MAX_PART_HEADERS,
    },
  });

  const tus: TusServingOptions = { ...options, uploads: options.files.uploads };
  app.route({
    method: 'POST',
    url: '/files',
    onRequest: async ({ requestContext, headers }) => {
      // Checked before the client is told to send its body.
      requireScope(requestContext);
      assertMediaType(headers['content-type']);
    },
    ...STREAMED_BODY,
    handler: async (request, reply) => {
      if (speaksTus(request, reply)) return await openUpload(request, reply, tus);
      const work = () => upload(request, options);
      const kept = await whileReceiving(request, reply, { stallMs: options.stallMs, work });
      return reply
        .code(201)
        .headers({ location: `/files/${kept.id}`, etag: etagOf(kept) })
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(describeFile(kept)));
    },
  });
  app.route<{ Params: { id: string }; Querystring: Record<string, string> }>({
    method: ['GET', 'HEAD'],
    url: '/files/:id',
    handler: (request, reply) =>
      request.method === 'HEAD' && speaksTus(request, reply)
        ? answerUploadOffset(request, reply, tus)
        : send(request, reply, options),
  });
  app.route<{ Params: { id: string } }>({
    method: 'PATCH',
    url: '/files/:id',
    onRequest: async (request, reply) => {
      requireScope(request.requestContext);
      if (!speaksTus(request, reply))
        throw malformedUpload('a piece of an upload needs the header Tus-Resumable', 'Tus-Resumable');
      assertIsPiece(request);
    },
    ...STREAMED_BODY,
    handler: (request, reply) => appendToUpload(request, reply, tus),
  });
  app.route<{ Params: { id: string } }>({
    method: 'DELETE',
    url: '/files/:id',
    handler: async (request, reply) => {
      const scope = requireScope(request.requestContext);
      const { id } = request.params;
      const isOpen = speaksTus(request, reply) && (await tus.uploads.delete(scope, id)) === 'gone';
      if (!isOpen) await options.files.delete(scope, id);
      return reply.code(204).send();
    },
  });
}

async function upload(request: FastifyRequest, { files }: FileServingOptions): Promise<StoredFile> {
  const scope = requireScope(request.requestContext);
  const sent = request.query as Described;
  assertParametersOfUpload(sent, NAMES);
  return await files.create(
    scope,
    request.isMultipart() ? await fromForm(request, sent) : fromBody(request, sent),
  );
}

/** @throws MALFORMED_REQUEST for a parameter that is unknown or given twice */
export function assertParametersOfUpload(
  query: Readonly<Record<string, unknown>>,
  names: ReadonlySet<string>,
  of = 'an upload',
): void {
  for (const [name, value] of Object.entries(query)) {
    if (!names.has(name) && name !== '_') throw malformedUpload(`${of} has no parameter "${name}"`, name);
    if (typeof value !== 'string') throw malformedUpload(`"${name}" is given twice`, name);
  }
}

function fromBody({ raw, headers }: FastifyRequest, sent: Described): NewFile {
  if (!sent.name) throw malformedUpload('the name of the file is missing: POST /files?name=…', 'name');
  return {
    ...toNewFile(sent),
    name: sent.name,
    contentType: headers['content-type'],
    stream: readCompleteBody(raw),
  };
}

/** The file is the first part with a file name; its description must come before it. */
async function fromForm(request: FastifyRequest, query: Described): Promise<NewFile> {
  const sent: Record<string, string | undefined> = { ...query };
  const parts = partsOf(request);
  // Not a `for await`, because leaving one would end the parts, and the end of the form is checked later.
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const part = next.value;
    if (part.type === 'field') {
      if (!NAMES.has(part.fieldname))
        throw malformedUpload(`"${part.fieldname}" is not a field of an upload`, part.fieldname);
      sent[part.fieldname] = String(part.value);
      continue;
    }
    return {
      ...toNewFile(sent),
      name: sent.name || part.filename || '',
      contentType: part.mimetype,
      stream: wholePart(part.file, parts, request.raw),
    };
  }
  throw malformedUpload('there is no file in the form: expected one part with a file name', 'file');
}

async function* partsOf(request: FastifyRequest): AsyncGenerator<Multipart, void> {
  try {
    for await (const part of request.parts()) yield part;
  } catch (error) {
    throw malformedForm(error);
  }
}

/** The parser reports the faults of a form as errors of its own, which would be faults of ours. */
function malformedForm(fault: unknown): ServiceError {
  const reason = fault instanceof Error ? fault.message : String(fault);
  return malformedUpload(
    `The body is not valid multipart/form-data (${reason}). Expected: Content-Type: multipart/form-data; ` +
      'boundary=…, and parts between lines with that boundary.',
    'Content-Type',
  );
}

function toNewFile(sent: Described): Pick<NewFile, 'link' | 'roles'> {
  return { link: toLink(sent.collection, sent.recordId), roles: rolesIn(sent.roles) };
}

/** Runs before Fastify's own check, which would require JSON. */
function assertMediaType(header: string | undefined): void {
  if (header === undefined || /^[\w.+-]+\/[\w.+-]+/.test(header)) return;
  throw malformedUpload('the Content-Type is not a media type such as application/pdf', 'Content-Type');
}

/** The bytes of a part. Only the end of the form shows whether it was complete. */
async function* wholePart(
  part: AsyncIterable<Buffer>,
  rest: AsyncGenerator<Multipart, void>,
  body: IncomingMessage,
): AsyncGenerator<Buffer, void> {
  try {
    yield* part;
  } catch (error) {
    throw malformedForm(error);
  }
  const next = await rest.next();
  if (!next.done) throw malformedUpload('the file must be the last part of the form', next.value.fieldname);
  if (!body.complete) throw brokenOff();
}

export function malformedUpload(message: string, parameter: string): ServiceError {
  return faultAt('MALFORMED_REQUEST', message, { parameter });
}

async function send(
  request: FastifyRequest<{ Params: { id: string }; Querystring: Record<string, string> }>,
  reply: FastifyReply,
  { files, stallMs }: FileServingOptions,
) {
  const scope = requireScope(request.requestContext);
  const file = await files.get(scope, request.params.id);
  const etag = etagOf(file);
  reply.headers({
    ...FILE_HEADERS,
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    vary: 'Authorization, X-Domain',
    'last-modified': file.createdAt.toUTCString(),
    'content-disposition': contentDispositionOf(file, request.query.download === 'true' ? 'save' : 'show'),
  });
  if (isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send();
  const range = isRangeMeant(request, etag) ? parseByteRange(request.headers.range, file.size) : undefined;
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`);
    throw new ServiceError(
      'RANGE_NOT_SATISFIABLE',
      `The file has ${file.size} bytes; nothing of the range lies in it.`,
    );
  }
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.size}`);
  const length = range ? range.end - range.start + 1 : file.size;
  reply.header('content-type', file.contentType).header('content-length', String(length));
  if (request.method === 'HEAD') return reply.send();
  request.lifecycle.releasePermit();
  reply.raw.setTimeout(stallMs, () => resetConnection(reply.raw));
  const { stream } = files.open(file, { signal: request.requestContext.signal, range });
  return reply.send(Readable.from(whileAllowed(stream, scope), { objectMode: false }));
}

/** Strong: a file never changes, and equal bytes are the same file. */
function etagOf({ sha256 }: StoredFile): string {
  return `"${sha256.toString('base64url')}"`;
}

/**
 * Ranges apply to GET. `If-Range` with a date counts as not met, because dates are too coarse.
 *
 * @see RFC 9110, 13.1.5 and 14.2
 */
function isRangeMeant({ headers, method }: FastifyRequest, etag: string): boolean {
  if (method !== 'GET') return false;
  const condition = headers['if-range'];
  return condition === undefined || condition === etag;
}
