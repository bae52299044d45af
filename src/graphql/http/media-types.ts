/** Chooses the media type of a result. @see GraphQL over HTTP, "Media Types" */
import Negotiator from 'negotiator';

const JSON_TYPE = 'application/json; charset=utf-8';
const RESULT_TYPE = 'application/graphql-response+json; charset=utf-8';
/** Clients send a handful of different headers. */
const MAX_KNOWN = 100;
const known = new Map<string, string | undefined>();

/** `undefined`: `Accept` allows neither. */
export function mediaTypeFor(accept: string | undefined): string | undefined {
  if (accept === undefined) return JSON_TYPE;
  if (known.has(accept)) return known.get(accept);
  const found = new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, RESULT_TYPE]);
  if (known.size < MAX_KNOWN) known.set(accept, found);
  return found;
}
