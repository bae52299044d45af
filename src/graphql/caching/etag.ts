/** The ETag of an answer is the hash of its text: the same bytes, the same tag, on every gateway. @see RFC 9110 section 8.8.3 */
import { createHash } from 'node:crypto';
import { plainEtag } from '../../content-encoding.js';

/** Strong: the media type is part of it, since the same text leaves as two. */
export function etagOf(mediaType: string, text: string): string {
  return `"${createHash('sha1').update(mediaType).update(text).digest('base64url')}"`;
}

/** Whether `If-None-Match` names this tag, or that of the same text compressed. Weak tags count, as the RFC says: a proxy that compresses makes them so. */
export function isUnchanged(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => isSame(tag.trim().replace(/^W\//, ''), etag));
}

/** The hash itself may end like the name of an encoding. */
function isSame(sent: string, etag: string): boolean {
  return sent === etag || plainEtag(sent) === etag;
}
