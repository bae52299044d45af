/** Limits on the structure of a body, in addition to its size: even a short text can take long to parse. */

import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors.js';
import type { JsonValue } from './json.js';

export interface BodyShape {
  /** Members of objects and elements of lists, over all levels. */
  readonly maxMembers: number;
  readonly maxDepth: number;
  /** Explains `maxMembers` to a caller: its setting, or the callers it applies to. */
  readonly boundBy: string;
}

/** Applies to bodies of parameters, forms, and callers without a credential. */
export const MAX_PARAMETER_MEMBERS = 1000;

/**
 * The service neither accepts nor produces JSON that is nested deeper: recursive functions read and write it,
 * and would exhaust their stack.
 */
export const MAX_JSON_DEPTH = 500;

const FIXED = 'for parameters, forms and callers without a credential, whatever the settings';

/**
 * The limits of a body with up to `maxMembers` members, or of one that must be small whatever the settings.
 */
export function bodyShape(size: 'small' | 'large', maxMembers: number): BodyShape {
  const isFixed = size === 'small' && maxMembers > MAX_PARAMETER_MEMBERS;
  return {
    maxMembers: isFixed ? MAX_PARAMETER_MEMBERS : maxMembers,
    maxDepth: MAX_JSON_DEPTH,
    boundBy: isFixed ? FIXED : 'BODY_MAX_MEMBERS',
  };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACE = 0x7d;
const CLOSING_BRACKET = 0x5d;

/**
 * Counts the members and levels of JSON without parsing it, in a fiftieth of the time. Malformed JSON is
 * counted as far as possible and left to the parser.
 *
 * @throws LIMIT_EXCEEDED (400) for too many members, MALFORMED_REQUEST (400) for too many levels
 */
export function assertJsonShape(json: Uint8Array, shape: BodyShape): void {
  const excess = findExcess(json, shape);
  if (excess === 'levels') throw tooDeep(shape.maxDepth);
  if (excess === 'members') throw tooMany(shape.maxMembers, { what: 'members', boundBy: shape.boundBy });
}

/** Whether JSON text is nested at least `most` levels deep. */
export function isNestedDeeply(text: string, most = MAX_JSON_DEPTH): boolean {
  const limits = { maxDepth: most, maxMembers: Number.POSITIVE_INFINITY };
  return text.length > most && findExcess(Buffer.from(text), limits) === 'levels';
}

function findExcess(
  json: Uint8Array,
  { maxMembers, maxDepth }: Pick<BodyShape, 'maxMembers' | 'maxDepth'>,
): 'members' | 'levels' | undefined {
  // The shortest member is a digit and its comma; the shortest level is a bracket.
  if (json.length <= maxDepth && json.length <= maxMembers) return undefined;
  let members = 0;
  let depth = 0;
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case QUOTE:
        index = endOfText(json, index);
        break;
      case COMMA:
        members += 1;
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        members += 1;
        depth += 1;
        if (depth > maxDepth) return 'levels';
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth -= 1;
        break;
    }
    if (members > maxMembers) return 'members';
  }
  return undefined;
}

/** @throws LIMIT_EXCEEDED (400) for too many fields */
export function assertFormShape(form: Buffer, maxFields: number, separator = '&'): void {
  let fields = 1;
  for (let at = form.indexOf(separator); at !== -1; at = form.indexOf(separator, at + 1)) {
    fields += 1;
    if (fields > maxFields) throw tooMany(maxFields, { what: 'fields', boundBy: FIXED });
  }
}

/** The end of the text that begins at `start`. */
export function endOfText(json: Uint8Array, start: number): number {
  let end = json.indexOf(QUOTE, start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf(QUOTE, end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: Uint8Array, index: number): boolean {
  let backslashes = 0;
  while (json[index - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function tooMany(max: number, options: { readonly what: string; readonly boundBy: string }): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `The body has more than ${max} ${options.what}, which is the limit here (${options.boundBy}); ` +
      'send fewer at a time.',
  );
}

function tooDeep(max: number): ServiceError {
  return new ServiceError('MALFORMED_REQUEST', `The body is nested too deeply; ${max} levels are the limit.`);
}

/**
 * Parses the text by `parse`, after checking that it has no more members and levels than `shape` allows.
 *
 * @throws MALFORMED_REQUEST (400) with the error and its position; LIMIT_EXCEEDED (400) for too many members
 */
export function readJsonBody(
  sent: Buffer,
  shape: BodyShape,
  parse: (text: string, bytes: Buffer) => JsonValue,
): JsonValue {
  const body = withoutBom(sent);
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  assertJsonShape(body, shape);
  try {
    return parse(body.toString('utf8'), body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ServiceError('MALFORMED_REQUEST', `The body is not JSON: ${error.message}.`, { cause: error });
  }
}

const BOM = Buffer.from('\ufeff');

/** The body without the byte order mark that some programs put in front of UTF-8. */
export function withoutBom(body: Buffer): Buffer {
  return body.subarray(0, BOM.length).equals(BOM) ? body.subarray(BOM.length) : body;
}
