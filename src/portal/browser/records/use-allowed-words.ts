import { useCallback } from 'react';
import { isExactNumber } from '../gateway/exact-number';
import { type Formats, useFormats } from '../language/use-formats';
import { useReportWords } from '../language/use-report-words';
import { type Texts, useTexts } from '../language/use-texts';
import { nameOfEnumValue } from '../reports/name-of-column';
import { type DeclaredField, isReferenceValue } from './declared-field';

/** A code such as `half_day`. */
const CODE = /^[a-z]+(?:_[a-z]+)*$/;

/**
 * Returns a function that prints an allowed value for people: `half_day` as "Half day". It is only for
 * display; the value itself is stored, filtered by, copied and exported. A value such as "Grade A" is
 * returned unchanged.
 */
export function useAllowedWords(): (value: string) => string {
  const say = useReportWords();
  return useCallback((value) => say(CODE.test(value) ? nameOfEnumValue(value) : value), [say]);
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns a function that prints a value of a field as one short text. The other values of its record decide
 * the unit where a field may have several.
 */
export function useValueText(): (value: unknown, field: DeclaredField, data?: unknown) => string {
  const t = useTexts();
  const formats = useFormats();
  const wordsOf = useAllowedWords();
  return (value, field, data = {}) => {
    const unit = unitIn(data as Values, field.unit);
    return printValue(value, { ...field, unit }, { t, formats, wordsOf });
  };
}

interface Words {
  readonly t: Texts;
  readonly formats: Formats;
  readonly wordsOf: ReturnType<typeof useAllowedWords>;
}

function printValue(value: unknown, field: DeclaredField, words: Words): string {
  const { t, formats, wordsOf } = words;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    const isPlain = value.every((one) => typeof one !== 'object' || isReferenceValue(one));
    if (isPlain) return value.map((one) => printValue(one, { ...field, isList: false }, words)).join(', ');
    return t('{count, plural, one {# entry} other {# entries}}', { count: value.length });
  }
  if (isReferenceValue(value)) return value.label ?? value.value;
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (isExactNumber(value)) return withUnit(value.$number, field);
  if (typeof value === 'number') return printNumber(value, field, formats);
  if (field.type === 'datetime' && typeof value === 'string') {
    return value.length === 10 ? formats.day(value) : formats.instant(value);
  }
  if (typeof value === 'object') return JSON.stringify(value);
  return field.allowed?.includes(String(value)) ? wordsOf(String(value)) : String(value);
}

function printNumber(value: number, field: DeclaredField, formats: Formats): string {
  const { unit } = field;
  if (unit !== null && /^[A-Z]{3}$/.test(unit)) return formats.money(value, unit);
  return withUnit(formats.number(value), field);
}

function withUnit(number: string, { unit }: DeclaredField): string {
  return unit === null ? number : `${number} ${unit}`;
}

/** Of a choice such as `% or INR`, the unit that `kind` says; null if it is unknown. */
export function unitIn({ kind }: Values, unit: string | null): string | null {
  if (!unit?.includes(' or ')) return unit;
  const units = unit.split(' or ');
  if (kind === 'percent') return units.find((one) => one === '%') ?? null;
  return kind === 'amount' ? (units.find((one) => one !== '%') ?? null) : null;
}
