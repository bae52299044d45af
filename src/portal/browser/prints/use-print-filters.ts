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
import type { PrintLayout } from './print-menu';

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

/** Sums in words, as receipts and cheques in India have them. */
const UNITS = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
  'seventeen eighteen nineteen'
).split(' ');
const TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
/** Hindi has a word of its own for each number below a hundred. */
const HINDI = (
  'शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह ' +
  'उन्नीस बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस ' +
  'तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस चालीस इकतालीस बयालीस तैंतालीस चौवालीस ' +
  'पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन ' +
  'सत्तावन अट्ठावन उनसठ साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर ' +
  'इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी अस्सी इक्यासी ' +
  'बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे ' +
  'चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे'
).split(' ');

interface NumberWords {
  /** Names of 10,000,000, 100,000, 1,000 and 100. */
  readonly sizes: readonly string[];
  /** A number below a hundred. */
  small(number: number): string;
  /** A whole sum. */
  sum(rupees: string, paise: string): string;
}

const WORDS: Readonly<Record<string, NumberWords>> = {
  en: {
    sizes: ['crore', 'lakh', 'thousand', 'hundred'],
    small(number) {
      if (number < 20) return UNITS[number] ?? '';
      const unit = number % 10;
      return `${TENS[Math.floor(number / 10)]}${unit > 0 ? `-${UNITS[unit]}` : ''}`;
    },
    sum: (rupees, paise) => `Rupees ${rupees}${paise && ` and ${paise} paise`} only`,
  },
  hi: {
    sizes: ['करोड़', 'लाख', 'हज़ार', 'सौ'],
    small: (number) => HINDI[number] ?? '',
    sum: (rupees, paise) => `रुपये ${rupees}${paise && ` और ${paise} पैसे`} मात्र`,
  },
};

const SIZES = [10_000_000, 100_000, 1_000, 100];

/** A sum with lakh and crore: `Rupees one lakh five and fifty paise only`. */
function sumInWords(amount: number, language: string): string {
  const words = WORDS[language] ?? WORDS.en;
  if (!words || !Number.isFinite(amount) || amount < 0) return '';
  const paise = Math.round(amount * 100);
  const part = paise % 100;
  return words.sum(inWords(Math.floor(paise / 100), words), part > 0 ? inWords(part, words) : '');
}

function inWords(number: number, words: NumberWords): string {
  const place = SIZES.findIndex((size) => number >= size);
  const size = SIZES[place];
  if (size === undefined) return words.small(number);
  const rest = number % size;
  const most = inWords(Math.floor(number / size), words);
  return `${most} ${words.sizes[place]}${rest > 0 ? ` ${inWords(rest, words)}` : ''}`;
}
