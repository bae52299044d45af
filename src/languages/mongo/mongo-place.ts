/**
 * Knows where in a query, an update or a pipeline its reader is, how much of it has been read, and how to say
 * what is wrong there.
 */
import { ServiceError } from '../../errors.js';
import type { JsonValue } from '../../json.js';
import { printExactJson } from '../../json.js';
import type { Path } from '../../model/path.js';
import { findUnstorableText } from '../../model/unstorable-text.js';

/** Bounds of one query, update or pipeline. */
export const MONGO_LIMITS = {
  maxDepth: 30,
  maxNodes: 2_000,
  maxListedValues: 1_000,
  maxTextLength: 4_096,
  maxPatternLength: 256,
  maxPathSteps: 20,
  maxStages: 50,
} as const;

export interface MongoPlace {
  /** What is read: `query`, `update`, `pipeline`; the parameter an error names. */
  readonly what: string;
  /** A JSON pointer into it. */
  readonly pointer: string;
  readonly depth: number;
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
      if (nodes > MONGO_LIMITS.maxNodes) throw tooManyInMongo(place, MONGO_LIMITS.maxNodes, 'parts');
    },
  };
  return place;
}

export function withinMongo(place: MongoPlace, name: string): MongoPlace {
  const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
  const inner = { ...place, pointer: `${place.pointer}/${step}`, depth: place.depth + 1 };
  if (inner.depth > MONGO_LIMITS.maxDepth) throw tooManyInMongo(inner, MONGO_LIMITS.maxDepth, 'levels');
  return inner;
}

/** `lines.fee_head` as its steps. */
export function mongoPathAt(text: string, place: MongoPlace): Path {
  const path = text.split('.');
  if (path.length > MONGO_LIMITS.maxPathSteps)
    throw tooManyInMongo(place, MONGO_LIMITS.maxPathSteps, 'steps in a path');
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

/** Stands for what was to be there and is not. */
export type SentValue = JsonValue | undefined;

export function malformedMongo(
  place: MongoPlace,
  expected: string,
  sent: SentValue,
  hint = '',
): ServiceError {
  return refusal('MALFORMED_FILTER', place, { expected, sent, hint });
}

export function invalidMongo(place: MongoPlace, expected: string, sent: SentValue): ServiceError {
  return refusal('INVALID_VALUE', place, { expected, sent, hint: '' });
}

export function tooManyInMongo({ what, pointer }: MongoPlace, most: number, things: string): ServiceError {
  const detail = `${what}${pointer}: at most ${most} ${things} are allowed.`;
  return new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail, parameter: what, pointer }] });
}

function refusal(
  code: 'MALFORMED_FILTER' | 'INVALID_VALUE',
  { what, pointer }: MongoPlace,
  { expected, sent, hint }: { expected: string; sent: SentValue; hint: string },
): ServiceError {
  const shown = sent === undefined ? 'nothing' : printExactJson(sent).slice(0, 100);
  const detail = `${what}${pointer}: expected ${expected}, found ${shown}.${hint}`;
  return new ServiceError(code, detail, {
    errors: [{ detail, parameter: what, pointer, expected, sent: shown }],
  });
}
