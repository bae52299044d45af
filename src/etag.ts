/**
 * Tags of content, whether what leaves is the content itself or that compressed. @see RFC 9110 section 8.8.3
 */
import { createHash } from 'node:crypto';
import type { ContentEncoding } from './content-encoding.js';

/**
 * The tag of an answer that is made anew each time: the same bytes have the same tag on every gateway. It is
 * strong, and the media type is part of it, since the same text leaves as two.
 */
export function etagOf(mediaType: string, text: string | Uint8Array): string {
  return `"${createHash('sha1').update(mediaType).update(text).digest('base64url')}"`;
}

/**
 * Whether `If-None-Match` names this tag, or that of the same content compressed: the caller has it already.
 * Weak tags count, as the RFC says: a proxy that compresses makes them so.
 */
export function isUnchanged(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const header = String(ifNoneMatch);
  return header.trim() === '*' || tagsIn(header).some((tag) => isSame(tag, etag));
}

/** `"3"` compressed by Brotli is `"3-br"`: other bytes have another strong tag. */
export function encodedEtag(etag: string, encoding: ContentEncoding): string {
  return etag.replace(/"$/, `-${encoding}"`);
}

/** The tag of the same content as it is before it is compressed. */
function plainEtag(etag: string): string {
  return etag.replace(/-(?:br|gzip)"$/, '"');
}

/** The tag a 304 tells: that of the very bytes the caller has, where it names one of the same content. */
export function etagHeld(ifNoneMatch: string | undefined, etag: string): string {
  if (ifNoneMatch === undefined) return etag;
  return tagsIn(ifNoneMatch).find((tag) => plainEtag(tag) === etag) ?? etag;
}

/** A hash itself may end like the name of an encoding. */
function isSame(sent: string, etag: string): boolean {
  return sent === etag || plainEtag(sent) === etag;
}

/** Weak tags lose their mark. */
function tagsIn(header: string): string[] {
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
