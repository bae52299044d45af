/** Prints a filter as oquery, for the law that reading what was printed gives the same filter. */
import { ServiceError } from '../../../src/base/errors.js';
import { isExactNumber } from '../../../src/base/json/json.js';
import type { Filter } from '../../../src/base/model/filter.js';
import type { Path } from '../../../src/base/model/path.js';

const SEGMENT = /^[A-Za-z0-9_$-]+$/;

/**
 * Prints a filter as oquery, in its canonical form: `parseOquery` reads it back as the same filter. Whether
 * case counts is not part of the text.
 *
 * @throws MALFORMED_FILTER (400) for what oquery cannot say: "or", other negations, conditions it has no
 * operator for.
 */
export function printOquery(filter: Filter): string {
  if (filter.kind !== 'all') return printCondition(filter);
  return filter.filters.map(printCondition).join(',');
}

function printCondition(filter: Filter): string {
  switch (filter.kind) {
    case 'looseEquals':
      return printed(filter.path, '=', shielded(filter.text));
    case 'startsWith':
      return printed(filter.path, '==', shielded(filter.text));
    case 'contains':
      return printed(filter.path, '=*', escaped(filter.text));
    case 'not':
      return printNegation(filter.filter);
    case 'equals':
      if (typeof filter.value !== 'number' && !isExactNumber(filter.value)) throw unspeakable(filter);
      return printed(filter.path, '===', String(filter.value));
    case 'greaterThan':
      return printed(filter.path, '=>', String(filter.value));
    case 'lessThan':
      return printed(filter.path, '=<', String(filter.value));
    case 'on':
      return printed(filter.path, '=', typeof filter.day === 'string' ? `on${filter.day}` : filter.day.word);
    case 'within':
      return printed(filter.path, '=#in', filter.month);
    default:
      throw unspeakable(filter);
  }
}

function printNegation(filter: Filter): string {
  if (filter.kind === 'startsWith') return printed(filter.path, '=!=', escaped(filter.text));
  if (filter.kind === 'contains') return printed(filter.path, '=!*', escaped(filter.text));
  throw unspeakable({ kind: 'not', filter });
}

function printed(path: Path, operator: string, value: string): string {
  if (path.length > 0 && path.every((segment) => SEGMENT.test(segment))) {
    return `${path.join('.')}${operator}${value}`;
  }
  throw new ServiceError('MALFORMED_FILTER', `oquery cannot name the field ${JSON.stringify(path)}.`);
}

function escaped(text: string): string {
  return text.replace(/[\\,]/g, '\\$&');
}

/** Escaped also where the text would make its operator another one. */
function shielded(text: string): string {
  const isTaken = /^(?:[=*<>!]|on\d|#in\d|(?:today|yesterday|daybeforeyesterday)$)/.test(text);
  return isTaken ? `\\${text[0]}${escaped(text.slice(1))}` : escaped(text);
}

function unspeakable(filter: Filter): ServiceError {
  return new ServiceError('MALFORMED_FILTER', `oquery has no way to say "${filter.kind}" of this.`);
}
