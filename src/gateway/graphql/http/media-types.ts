/** Chooses the media type of a result. @see GraphQL over HTTP, "Media Types" */
import Negotiator from 'negotiator';
import { rememberLatest } from '../../../base/process/remember-latest.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const RESULT_TYPE = 'application/graphql-response+json; charset=utf-8';
/** Clients send a handful of different headers. */
const MAX_REMEMBERED = 100;

/** `undefined`: `Accept` allows neither. */
export function mediaTypeFor(accept: string | undefined): string | undefined {
  return accept === undefined ? JSON_TYPE : acceptedType(accept);
}

const acceptedType = rememberLatest(
  (accept) => new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, RESULT_TYPE]),
  MAX_REMEMBERED,
);
