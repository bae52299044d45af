/** Attachments: base64 in the email, or files of the domain, which are read when it is sent. */
import type { Readable } from 'node:stream';
import { firstFault, ServiceError } from '../../../base/errors.js';
import type { Scope } from '../../../base/model/scope.js';
import { isBase64 } from '../../../base/text/base64.js';
import type { Transaction } from '../../../store/database/queryable.js';
import { type Attachment, DeliveryError } from '../message.js';
import type { AttachmentRequest } from './email-request.js';
import type { OutgoingAttachment } from './smtp-channel.js';

/** The part of `Files` needed here. @see Files */
export interface AttachmentFiles {
  /** @throws NOT_FOUND also for a file the caller may not read */
  get(
    scope: Scope,
    id: string,
    within?: Transaction,
  ): Promise<{ readonly name: string; readonly contentType: string }>;
  read(scope: Scope, id: string): Promise<{ readonly stream: Readable }>;
}

const MAX_ATTACHMENTS = 20;
const MAX_NAME = 255;
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;\s*[\w-]+=[\w."+/ -]{1,100})*$/;
const OCTETS = 'application/octet-stream';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a header
const CONTROL = /[\u0000-\u001f\u007f]/;

/** @throws INVALID_VALUE, LIMIT_EXCEEDED; NOT_FOUND for a file the caller may not read */
export async function toAttachments(
  scope: Scope,
  requests: readonly AttachmentRequest[],
  { files, within }: { readonly files: AttachmentFiles; readonly within: Transaction | undefined },
): Promise<Attachment[]> {
  if (requests.length > MAX_ATTACHMENTS) {
    throw new ServiceError('LIMIT_EXCEEDED', `an email has at most ${MAX_ATTACHMENTS} attachments`);
  }
  const attachments: Attachment[] = [];
  for (const [index, request] of requests.entries()) {
    attachments.push(
      await toAttachment(request, `attachments/${index}`, (id) => files.get(scope, id, within)),
    );
  }
  return attachments;
}

/**
 * Opens the attachments of a message. The caller must end the streams.
 *
 * @throws DeliveryError that is permanent, for a file that was deleted
 */
export async function openAttachments(
  scope: Scope,
  attachments: readonly Attachment[],
  files: AttachmentFiles,
): Promise<OutgoingAttachment[]> {
  const opened: OutgoingAttachment[] = [];
  for (const { name, contentType, content, fileId } of attachments) {
    const bytes = fileId === undefined ? content : (await openFile(files, scope, fileId)).stream;
    opened.push({ name, contentType, content: bytes ?? Buffer.alloc(0) });
  }
  return opened;
}

async function openFile(files: AttachmentFiles, scope: Scope, fileId: string) {
  try {
    return await files.read(scope, fileId);
  } catch (error) {
    const isDeleted = error instanceof ServiceError && error.code === 'NOT_FOUND';
    throw isDeleted ? new DeliveryError('permanent', error.message) : error;
  }
}

async function toAttachment(
  request: AttachmentRequest,
  parameter: string,
  findFile: (id: string) => ReturnType<AttachmentFiles['get']>,
): Promise<Attachment> {
  const { content, fileId } = request;
  if ((content === undefined) === (fileId === undefined)) {
    throw invalid(parameter, 'it has both or none of them', 'either content (base64) or fileId');
  }
  const file = fileId === undefined ? undefined : await findFile(fileId);
  const name = request.name || file?.name || '';
  if (name === '' || name.length > MAX_NAME || CONTROL.test(name)) {
    throw invalid(`${parameter}/name`, 'not the name of a file', `1 to ${MAX_NAME} characters in one line`);
  }
  const contentType = request.contentType ?? file?.contentType ?? OCTETS;
  if (!MEDIA_TYPE.test(contentType)) {
    throw invalid(`${parameter}/contentType`, 'not a media type', 'e.g. application/pdf');
  }
  if (content !== undefined && !isBase64(content)) {
    throw invalid(`${parameter}/content`, 'not base64', 'base64 (RFC 4648, section 4) without line breaks');
  }
  return {
    name,
    contentType,
    content: content === undefined ? undefined : Buffer.from(content, 'base64'),
    fileId,
  };
}

function invalid(parameter: string, detail: string, expected: string): ServiceError {
  const errors = [{ parameter, detail, expected }];
  return new ServiceError('INVALID_VALUE', `an attachment cannot be sent: ${firstFault(errors)}`, { errors });
}
