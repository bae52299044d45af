/**
 * No text of a caller reaches a statement that would fail on it: PostgreSQL holds no U+0000, and JSON cast to
 * `jsonb` no escape of it nor of half a surrogate pair. Readers of requests say where such a character
 * stands; this is what holds for all they do not look at.
 */
import { ServiceError } from '../../base/errors.js';
import { replaceUnstorableText } from '../../base/model/unstorable-text.js';
import type { Sql } from '../sql.js';

const JSON_CAST = /^::json/;

/** @throws INVALID_VALUE (400) */
export function assertStorableParameters({ strings, values }: Sql): void {
  values.forEach((value, index) => {
    if (Array.isArray(value)) {
      if (value.some(hasNul)) throw unstorable();
    } else if (hasNul(value)) throw unstorable();
    else if (
      typeof value === 'string' &&
      JSON_CAST.test(strings[index + 1] ?? '') &&
      hasUnstorableEscape(value)
    ) {
      throw unstorable();
    }
  });
}

/** The same for the arguments of an operation of Prisma. @throws INVALID_VALUE (400) */
export function assertStorableArguments(value: unknown): void {
  if (hasNul(value)) throw unstorable();
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (hasNul(name)) throw unstorable();
    assertStorableArguments(member);
  }
}

function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

function hasUnstorableEscape(json: string): boolean {
  return json.includes('\\u') && replaceUnstorableText(json) !== json;
}

function unstorable(): ServiceError {
  const detail = 'A text holds a character that cannot be stored (U+0000, or half of a surrogate pair).';
  return new ServiceError('INVALID_VALUE', detail, {
    errors: [{ detail, expected: 'text without U+0000 and lone surrogates' }],
  });
}
