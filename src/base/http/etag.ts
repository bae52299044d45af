/** Entity tags, for plain and compressed content. @see RFC 9110 section 8.8.3 */
import { createHash } from 'node:crypto';
import type { ContentEncoding } from './content-encoding.js';

/**
 * The tag of a generated answer: the same bytes have the same tag on every gateway. It is strong, and
 * includes the media type, because the same text may be sent as two types.
 */
export function etagOf(mediaType: string, text: string | Uint8Array): string {
  return `"${createHash('sha1').update(mediaType).update(text).digest('base64url')}"`;
}

/**
 * Whether `If-None-Match` names this tag, plain or compressed: the caller already has the content. Weak tags
 * count (RFC 9110): a proxy that compresses turns strong tags into weak ones.
 */
export function isUnchanged(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const header = String(ifNoneMatch);
  // A hash may itself end like the name of an encoding.
  return header.trim() === '*' || tagsIn(header).some((tag) => tag === etag || plainEtag(tag) === etag);
}

/** `"3"` compressed by Brotli is `"3-br"`: different bytes need a different strong tag. */
export function encodedEtag(etag: string, encoding: ContentEncoding): string {
  return etag.replace(/"$/, `-${encoding}"`);
}

/** The tag of the same content before compression. */
function plainEtag(etag: string): string {
  return etag.replace(/-(?:br|gzip)"$/, '"');
}

/** The tag to send with a 304: the one the caller named, if it is of the same content. */
export function etagHeld(ifNoneMatch: string | undefined, etag: string): string {
  if (ifNoneMatch === undefined) return etag;
  return tagsIn(ifNoneMatch).find((tag) => plainEtag(tag) === etag) ?? etag;
}

/** Removes the mark of weak tags. */
function tagsIn(header: string): string[] {
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
