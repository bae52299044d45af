/**
 * A last line that says that an answer is whole, for those who ask by `Prefer: end-marker` (RFC 7240):
 * neither NDJSON nor CSV shows by itself that its end is missing, and what stands between may not pass on
 * that a connection was cut.
 */

/**
 * The markers by media type, added when everything before them was sent. A record has no field that begins
 * with `$`.
 */
const MARKERS: ReadonlyMap<string, string> = new Map([
  ['application/x-ndjson', '{"$end":true}\n'],
  ['text/csv', '#end\r\n'],
]);

const PREFERENCE = 'end-marker';

/**
 * The marker that was asked for, in an answer of this type; `undefined`: none was, or the type needs none.
 */
export function endMarkerFor(prefer: string | string[] | undefined, mediaType: string): string | undefined {
  if (prefer === undefined) return undefined;
  const names = String(prefer)
    .split(/[,;]/)
    .map((part) => part.trim().toLowerCase());
  if (!names.includes(PREFERENCE)) return undefined;
  const [type = ''] = mediaType.split(';', 1);
  return MARKERS.get(type.trim());
}

/** Tells the caller that the marker will be there. */
export const MARKER_HEADERS: Readonly<Record<string, string>> = { 'preference-applied': PREFERENCE };

export async function* withEndMarker(
  chunks: AsyncIterable<string | Uint8Array>,
  marker: string,
): AsyncGenerator<string | Uint8Array, void> {
  yield* chunks;
  yield marker;
}
