/** A position within what a caller sent, for error messages. */
import { faultAt, type ServiceError } from '../errors.js';
import { pointerStep } from '../model/path.js';

export interface SentPlace {
  /** The parameter that an error names, e.g. `where` or `pipeline`. */
  readonly what: string;
  /** A JSON pointer into it. */
  readonly pointer: string;
  readonly depth: number;
}

export interface Mismatch {
  readonly expected: string;
  /** The value there as shown in an error, cut to a readable length. */
  readonly sent: string;
  readonly hint: string;
}

const MAX_SHOWN_LENGTH = 100;

export function withinSent<Place extends SentPlace>(place: Place, name: string): Place {
  return { ...place, pointer: `${place.pointer}/${pointerStep(name)}`, depth: place.depth + 1 };
}

export function refuseSent(
  code: 'MALFORMED_FILTER' | 'INVALID_VALUE',
  { what, pointer }: SentPlace,
  { expected, sent, hint }: Mismatch,
): ServiceError {
  const shown = sent.slice(0, MAX_SHOWN_LENGTH);
  const detail = `${what}${pointer}: expected ${expected}, found ${shown}.${hint}`;
  return faultAt(code, detail, { parameter: what, pointer, expected, sent: shown });
}

export function tooManySent({ what, pointer }: SentPlace, most: number, things: string): ServiceError {
  const detail = `${what}${pointer}: at most ${most} ${things} are allowed.`;
  return faultAt('LIMIT_EXCEEDED', detail, { parameter: what, pointer });
}
