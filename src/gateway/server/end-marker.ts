/**
 * A last line that confirms that an answer is complete, for callers that ask by `Prefer: end-marker` (RFC
 * 7240). NDJSON and CSV have no end of their own, and a proxy may hide that a connection was reset.
 */
import type { FastifyReply } from 'fastify';
import { isPreferred } from '../../base/http/is-preferred.js';

/** The markers by media type, sent after everything else. No field of a record begins with `$`. */
const MARKERS: ReadonlyMap<string, string> = new Map([
  ['application/x-ndjson', '{"$end":true}\n'],
  ['text/csv', '#end\r\n'],
]);

const PREFERENCE = 'end-marker';

/** The marker for an answer of this type; `undefined` if it was not requested or the type needs none. */
export function endMarkerFor(prefer: string | string[] | undefined, mediaType: string): string | undefined {
  if (!isPreferred(prefer, PREFERENCE)) return undefined;
  const [type = ''] = mediaType.split(';', 1);
  return MARKERS.get(type.trim());
}

/** Confirms that the marker will be sent, beside what else was preferred and is done. */
export function confirmMarker(reply: FastifyReply): void {
  const applied = reply.getHeader('preference-applied');
  reply.header('preference-applied', applied === undefined ? PREFERENCE : `${applied}, ${PREFERENCE}`);
}

export async function* withEndMarker(
  chunks: AsyncIterable<string | Uint8Array>,
  marker: string,
): AsyncGenerator<string | Uint8Array, void> {
  yield* chunks;
  yield marker;
}
