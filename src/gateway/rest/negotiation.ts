/** Chooses the format of an answer from the caller's `Accept` header. */
import Negotiator from 'negotiator';
import { ServiceError } from '../../base/errors.js';
import { rememberLatest } from '../../base/process/remember-latest.js';
import { type Format, MEDIA_TYPES } from '../../base/tables/format.js';

const PROBLEM_TYPE = 'application/problem+json';

/** Parsing a header takes longer than the rest of the hot path. */
const MAX_REMEMBERED = 256;

/**
 * Creates the negotiation for routes with these `formats`, in our order of preference: the first wins if the
 * caller has none. Without an `Accept` header all are acceptable.
 *
 * @throws NOT_ACCEPTABLE (406), from the returned function, listing the available formats
 * @see decisions 4
 */
export function createNegotiation(formats: readonly Format[]): (accept: string | undefined) => Format {
  const formatsByType = new Map(
    formats.flatMap((format) => MEDIA_TYPES[format].map((type) => [type, format] as const)),
  );
  const types = [...formatsByType.keys()];
  const choose = rememberLatest((accept) => {
    const type = preferredType(accept, types);
    return type === undefined ? undefined : formatsByType.get(type);
  }, MAX_REMEMBERED);

  return (accept) => {
    const format = accept === undefined ? formats[0] : choose(accept);
    if (format) return format;
    const offered = formats.map((name) => MEDIA_TYPES[name][0]).join(', ');
    throw new ServiceError(
      'NOT_ACCEPTABLE',
      `This answer can be had as ${offered}; Accept admits none of them.`,
    );
  };
}

/**
 * The media type of an error: `application/problem+json` if the caller accepts it, else plain JSON.
 *
 * @see decisions 4
 */
export function problemTypeFor(accept: string | undefined): string {
  return accept === undefined ? PROBLEM_TYPE : problemTypeOf(accept);
}

const problemTypeOf = rememberLatest(
  (accept) => preferredType(accept, [PROBLEM_TYPE, 'application/json']) ?? 'application/json',
  MAX_REMEMBERED,
);

/**
 * Only `q` is used of a type's parameters: we write each type in one way, and clients like to add a charset.
 */
const OTHER_PARAMETERS = /;\s*(?!q\s*=)[\w-]+\s*=\s*(?:"[^"]*"|[^;,\s]*)/gi;

function preferredType(accept: string, types: readonly string[]): string | undefined {
  return new Negotiator({ headers: { accept: accept.replace(OTHER_PARAMETERS, '') } }).mediaType(types);
}
