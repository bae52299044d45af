/** The position of a parser within a query, update or pipeline, with its limits and its errors. */
import type { ServiceError } from '../../base/errors.js';
import type { JsonValue } from '../../base/json/json.js';
import { printExactJson } from '../../base/json/json.js';
import { refuseSent, type SentPlace, tooManySent, withinSent } from '../../base/languages/sent-place.js';
import { type Path, toPath } from '../../base/model/path.js';
import { findUnstorableText } from '../../base/model/unstorable-text.js';

/** Limits of one query, update or pipeline. */
export const MONGO_LIMITS = {
  maxDepth: 30,
  maxNodes: 2_000,
  maxListedValues: 1_000,
  maxTextLength: 4_096,
  maxPatternLength: 256,
  maxPathSteps: 20,
  maxStages: 50,
} as const;

/** The place is in a `query`, an `update` or a `pipeline`. */
export interface MongoPlace extends SentPlace {
  /** Counts a node. @throws LIMIT_EXCEEDED (400) */
  enter(): void;
}

export function startMongoPlace(what: string): MongoPlace {
  let nodes = 0;
  const place: MongoPlace = {
    what,
    pointer: '',
    depth: 0,
    enter() {
      nodes += 1;
      if (nodes > MONGO_LIMITS.maxNodes) throw tooManySent(place, MONGO_LIMITS.maxNodes, 'parts');
    },
  };
  return place;
}

export function withinMongo(place: MongoPlace, name: string): MongoPlace {
  const inner = withinSent(place, name);
  if (inner.depth > MONGO_LIMITS.maxDepth) throw tooManySent(inner, MONGO_LIMITS.maxDepth, 'levels');
  return inner;
}

/** `lines.fee_head` as its steps. */
export function mongoPathAt(text: string, place: MongoPlace): Path {
  const path = toPath(text);
  if (path.length > MONGO_LIMITS.maxPathSteps)
    throw tooManySent(place, MONGO_LIMITS.maxPathSteps, 'steps in a path');
  if (path.some((step) => step === '')) {
    throw malformedMongo(place, 'a path such as name or lines.fee_head, without an empty step', text);
  }
  const dollar = path.find((step) => step.startsWith('$'));
  if (dollar !== undefined)
    throw malformedMongo(place, 'a path of field names, which do not begin with $', text);
  if (findUnstorableText(text) !== undefined)
    throw malformedMongo(place, 'a path of characters a record can hold', text);
  return path;
}

/** A value, or `undefined` where one is missing. */
export type SentValue = JsonValue | undefined;

export function malformedMongo(
  place: MongoPlace,
  expected: string,
  sent: SentValue,
  hint = '',
): ServiceError {
  return refuseSent('MALFORMED_FILTER', place, { expected, sent: shownInMongo(sent), hint });
}

export function invalidMongo(place: MongoPlace, expected: string, sent: SentValue): ServiceError {
  return refuseSent('INVALID_VALUE', place, { expected, sent: shownInMongo(sent), hint: '' });
}

function shownInMongo(sent: SentValue): string {
  return sent === undefined ? 'nothing' : printExactJson(sent);
}
