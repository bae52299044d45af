import { isDay } from '../../base/model/calendar.js';
import { type Collection, CREATED_ON } from '../../base/model/collection.js';
import { foldText } from '../../base/model/normal-text.js';
import type { Operand } from '../../base/model/operand.js';
import type { Scope } from '../../base/model/scope.js';
import type { Bound, ValueTest } from '../../base/model/value-test.js';
import type { ResolvedFilter, ResolvedTest } from './resolved-filter.js';

/**
 * Adds a hint for two conditions on the same field that no record satisfies together, such as
 * `status=absent,status=late`: their result is empty, and looks like an answer. Some callers take the comma
 * of oquery for "or".
 */
export function hintAtContradictions(filter: ResolvedFilter, scope: Scope, collection: Collection): void {
  if (scope.onHint === undefined || filter.kind !== 'all') return;
  const conditions = testsOf(filter).slice(0, MAX_COMPARED);
  for (const [index, { name, test }] of conditions.entries()) {
    const later = conditions.slice(index + 1);
    if (!later.some((other) => other.name === name && exclude(test, other.test))) continue;
    scope.onHint(
      `No record satisfies both conditions on "${name}" of ${collection.name}: all conditions of a filter ` +
        'must hold. For one or the other, use `in` or `or` in `where`, `$in` or `$or` in a script.',
    );
  }
}

/** Each condition is compared with each other one. */
const MAX_COMPARED = 32;

/** The tests that all must hold, of fields of which a record has one value. */
function testsOf(filter: ResolvedFilter): readonly { readonly name: string; readonly test: ValueTest }[] {
  if (filter.kind === 'all') return filter.filters.flatMap(testsOf);
  return filter.kind === 'test' && isOfOneValue(filter)
    ? [{ name: filter.path.join('.'), test: filter.test }]
    : [];
}

function isOfOneValue({ path, paths, place }: ResolvedTest): boolean {
  return paths.length === 1 && (place.form !== 'path' || (path.length === 1 && path[0] === CREATED_ON));
}

function exclude(one: ValueTest, other: ValueTest): boolean {
  if (one.kind === 'like' || other.kind === 'like') {
    const texts = [one, other].map((test) => (isWhole(test) ? test.text.toLowerCase() : undefined));
    return !texts.includes(undefined) && texts[0] !== texts[1];
  }
  const spans = spansOf(other);
  return spansOf(one).every((span) => spans.every((beside) => areApart(span, beside)));
}

function isWhole(test: ValueTest): test is Extract<ValueTest, { readonly kind: 'like' }> {
  return test.kind === 'like' && test.at === 'whole';
}

/** The values from one to another. Days and instants are texts that do not mix. */
interface Span {
  readonly among: string;
  readonly lower: Bound<Operand> | undefined;
  readonly upper: Bound<Operand> | undefined;
}

function spansOf(test: ValueTest): readonly Span[] {
  switch (test.kind) {
    case 'is':
      return [spanOf(test.value)];
    case 'in':
      return test.values.map(spanOf);
    case 'spelled':
      return test.values.map((value) => spanOf(foldText(String(value))));
    case 'either':
      return test.tests.flatMap(spansOf);
    case 'numberRange':
      return [{ ...test, among: 'all' }];
    case 'textRange':
      return [test];
    case 'like':
      return [{ among: 'all', lower: undefined, upper: undefined }];
  }
}

function spanOf(value: Operand): Span {
  const bound = { value, isIncluded: true };
  return { among: isDay(String(value)) ? 'days' : 'all', lower: bound, upper: bound };
}

function areApart(one: Span, other: Span): boolean {
  const writings = [one.among, other.among];
  if (writings.includes('days') && writings.includes('instants')) return true;
  return isBeyond(one.lower, other.upper) || isBeyond(other.lower, one.upper);
}

function isBeyond(lower: Span['lower'], upper: Span['upper']): boolean {
  if (lower === undefined || upper === undefined) return false;
  const [from, to] = [comparable(lower.value), comparable(upper.value)];
  if (typeof from !== typeof to) return true;
  return from > to || (from === to && !(lower.isIncluded && upper.isIncluded));
}

function comparable(value: Operand): string | number | boolean {
  return typeof value === 'object' ? Number(String(value)) : value;
}
