/** The filters of documents in the language of the page. */
import { useLingui } from '@lingui/react';
import type { PrintFilters } from '../../../base/text/print-filters.js';
import { isExactNumber } from '../gateway/exact-number';
import { useFormats } from '../language/use-texts';
import {
  type DeclaredCollection,
  type DeclaredField,
  isReferenceValue,
  useAllowedWords,
  useFieldNames,
  useValueText,
} from '../records/use-declared-collection';
import type { PrintLayout } from './print-head';
import { sumInWords } from './sum-in-words';

type Values = Readonly<Record<string, unknown>>;

/** A field of a record on paper: its name, and its text or the rows within it. */
interface PrintedField {
  readonly name: string;
  readonly text: string;
  readonly rows: readonly (readonly PrintedField[])[];
}

export function usePrintFilters(
  layout: PrintLayout,
  collection: DeclaredCollection | null | undefined,
): PrintFilters {
  const { locale } = useLingui().i18n;
  const formats = useFormats();
  const nameOf = useFieldNames();
  const wordOf = useAllowedWords();
  const valueText = useValueText();
  const words = layout.translations?.[locale]?.words ?? {};
  const translate = (text: string) => words[text] ?? text;
  const fieldsOf = (fields: readonly DeclaredField[], data: Values): readonly PrintedField[] =>
    fields.flatMap((field): PrintedField[] => {
      const value = data[field.name];
      const list = (Array.isArray(value) ? value : [value]).filter(
        (one): one is Values => typeof one === 'object' && one !== null,
      );
      const isNested = field.fields && list.length > 0 && !list.some(isReferenceValue);
      const rows = isNested ? list.map((one) => fieldsOf(field.fields ?? [], one)) : [];
      const text = isNested ? '' : valueText(value, field, data);
      return text === '' && rows.length === 0 ? [] : [{ name: nameOf(field.name), text, rows }];
    });
  return {
    t: (value, ...parts) =>
      translate(textOf(value)).replaceAll(/\{(\d)\}/g, (_all, place: string) => textOf(parts[Number(place)])),
    word: (value) => translate(wordOf(textOf(value).toLowerCase())),
    field: (value) => nameOf(textOf(value)),
    fields: (value) => fieldsOf(collection?.fields ?? [], (value ?? {}) as Values),
    label: (value) => textOf(((value ?? {}) as Values)[collection?.labelField ?? '']) || collection?.title,
    // Adding leaves parts of a paisa, and a zero below zero.
    money: (value) => ifThere(value, (number) => formats.money(Math.round(number * 100) / 100 + 0)),
    in_words: (value, language = locale) => sumInWords(Number(textOf(value)), String(language)),
    number: (value) => ifThere(value, formats.number),
    percent: (value) => ifThere(value, formats.percent),
    day: (value) => formats.day(textOf(value)),
    month: (value) => formats.month(textOf(value).slice(0, 7)),
    instant: (value) => formats.instant(textOf(value)),
  };
}

function textOf(value: unknown): string {
  if (isExactNumber(value)) return value.$number;
  return value === null || value === undefined ? '' : String(value);
}

function ifThere(value: unknown, print: (number: number) => string): string {
  const text = textOf(value);
  return text === '' ? '' : print(Number(text));
}
