/**
 * Where in a query, an update or a pipeline its reader is, how much of it has been read, and how it says what
 * is wrong there.
 */
import { ServiceError } from '../../errors.js';
import type { JsonValue } from '../../json.js';
import { printExactJson } from '../../json.js';
import type { Path } from '../../model/path.js';
import { findUnstorable } from '../../model/storable-text.js';

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

export interface Place {
  /** What is read: `query`, `update`, `pipeline`; the parameter an error names. */
  readonly what: string;
  /** A JSON pointer into it. */
  readonly pointer: string;
  readonly depth: number;
  /** Counts a node. @throws LIMIT_EXCEEDED (400) */
  enter(): void;
}

export function startAt(what: string): Place {
  let nodes = 0;
  const place: Place = {
    what,
    pointer: '',
    depth: 0,
    enter() {
      nodes += 1;
      if (nodes > MONGO_LIMITS.maxNodes) throw tooMany(place, MONGO_LIMITS.maxNodes, 'parts');
    },
  };
  return place;
}

export function within(place: Place, name: string): Place {
  const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
  const inner = { ...place, pointer: `${place.pointer}/${step}`, depth: place.depth + 1 };
  if (inner.depth > MONGO_LIMITS.maxDepth) throw tooMany(inner, MONGO_LIMITS.maxDepth, 'levels');
  return inner;
}

/** `lines.fee_head` as its steps. */
export function pathAt(text: string, place: Place): Path {
  const path = text.split('.');
  if (path.length > MONGO_LIMITS.maxPathSteps)
    throw tooMany(place, MONGO_LIMITS.maxPathSteps, 'steps in a path');
  if (path.some((step) => step === '')) {
    throw malformed(place, 'a path such as name or lines.fee_head, without an empty step', text);
  }
  const dollar = path.find((step) => step.startsWith('$'));
  if (dollar !== undefined) throw malformed(place, 'a path of field names, which do not begin with $', text);
  if (findUnstorable(text) !== undefined)
    throw malformed(place, 'a path of characters a record can hold', text);
  return path;
}

/** Stands for what was to be there and is not. */
export type Sent = JsonValue | undefined;

export function malformed(place: Place, expected: string, sent: Sent, hint = ''): ServiceError {
  return refusal('MALFORMED_FILTER', place, { expected, sent, hint });
}

export function invalid(place: Place, expected: string, sent: Sent): ServiceError {
  return refusal('INVALID_VALUE', place, { expected, sent, hint: '' });
}

export function tooMany({ what, pointer }: Place, most: number, things: string): ServiceError {
  const detail = `${what}${pointer}: at most ${most} ${things} are allowed.`;
  return new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail, parameter: what, pointer }] });
}

function refusal(
  code: 'MALFORMED_FILTER' | 'INVALID_VALUE',
  { what, pointer }: Place,
  { expected, sent, hint }: { expected: string; sent: Sent; hint: string },
): ServiceError {
  const shown = sent === undefined ? 'nothing' : printExactJson(sent).slice(0, 100);
  const detail = `${what}${pointer}: expected ${expected}, found ${shown}.${hint}`;
  return new ServiceError(code, detail, {
    errors: [{ detail, parameter: what, pointer, expected, sent: shown }],
  });
}
