import { useMemo } from 'react';
import {
  CollectionDeclaration,
  type CollectionDeclarationQuery,
  type DeclaredFieldFragment,
} from '../../../generated/portal/records/records';
import { isLongNumber } from '../gateway/long-number';
import { useOperation } from '../gateway/use-gateway';
import { nameOfColumn, nameOfEnumValue, nameOfField } from '../language/name-of-field';
import { formats, say, t, useLanguage } from '../language/texts';
import { StateTag } from '../shell/icon';

/** A field as the collection declares it, with the fields of an object within. */
export interface DeclaredField extends DeclaredFieldFragment {
  readonly fields?: readonly DeclaredField[];
}

export interface ReferenceValue {
  readonly value: string;
  readonly label?: string;
  readonly collection?: string;
}

export function isReferenceValue(value: unknown): value is ReferenceValue {
  return typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'string';
}

/** The declaration of a collection with its fields. */
export type DeclaredCollection = CollectionDeclarationQuery['collection'];

/** Reads the declaration of a collection, with title and descriptions in the language of the page. */
export function useDeclaredCollection(name: string) {
  const language = useLanguage();
  const { data, error, refetch } = useOperation(CollectionDeclaration, { name });
  const collection = data?.collection;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are those of the language.
  const inWords = useMemo(() => collection && sayCollection(collection), [collection, language]);
  return { collection: inWords, error, refetch };
}

function sayCollection(collection: DeclaredCollection): DeclaredCollection {
  return {
    ...collection,
    title: say(collection.title),
    description: say(collection.description),
    fields: collection.fields.map(sayField),
  };
}

function sayField<Field extends DeclaredField>(field: Field): Field {
  const members = field.fields?.map(sayField);
  return { ...field, description: say(field.description), ...(members && { fields: members }) };
}

/**
 * Names a field in the language of the page: `guardian_phone` is "Guardian phone", and the second of a list
 * "Guardian phone 2". A field that the school has declared keeps its own name.
 */
export function sayFieldName(name: string): string {
  return nameOfField(name).replace(/^.*?(?= \d+$|$)/, say);
}

/** A field, a value or a mutation that a description names: `promoteStudents` is "Promote students". */
export function sayCode(code: string): string {
  return say(nameOfColumn(nameOfField(code)));
}

/** A code such as `half_day`. */
const CODE = /^[a-z]+(?:_[a-z]+)*$/;

/**
 * Prints an allowed value for people: `half_day` as "Half day". It is only for display; the value itself is
 * stored, filtered by, copied and exported. A value such as "Grade A" is returned unchanged.
 */
export function sayAllowed(value: string): string {
  return say(CODE.test(value) ? nameOfEnumValue(value) : value);
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Prints a value of a field as one short text. The other values of its record decide the unit where a field
 * may have several.
 */
export function valueText(value: unknown, field: DeclaredField, data: unknown = {}): string {
  return printValue(value, { ...field, unit: unitIn(data as Values, field.unit) });
}

function printValue(value: unknown, field: DeclaredField): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    const isPlain = value.every((one) => typeof one !== 'object' || isReferenceValue(one));
    if (isPlain) return value.map((one) => printValue(one, { ...field, isList: false })).join(', ');
    return t('{count, plural, one {# entry} other {# entries}}', { count: value.length });
  }
  if (isReferenceValue(value)) return value.label ?? value.value;
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (isLongNumber(value)) return withUnit(value.$number, field);
  if (typeof value === 'number') return printNumber(value, field);
  if (field.type === 'datetime' && typeof value === 'string') {
    return value.length === 10 ? formats.day(value) : formats.instant(value);
  }
  if (typeof value === 'object') return JSON.stringify(value);
  return field.allowed?.includes(String(value)) ? sayAllowed(String(value)) : String(value);
}

function printNumber(value: number, field: DeclaredField): string {
  const { unit } = field;
  if (unit !== null && /^[A-Z]{3}$/.test(unit)) return formats.money(value, unit);
  return withUnit(formats.number(value), field);
}

function withUnit(number: string, { unit }: DeclaredField): string {
  return unit === null ? number : `${number} ${unit}`;
}

/** The unit that `kind` selects from a choice such as `% or INR`; null if it is unknown. */
export function unitIn({ kind }: Values, unit: string | null): string | null {
  if (!unit?.includes(' or ')) return unit;
  const units = unit.split(' or ');
  if (kind === 'percent') return units.find((one) => one === '%') ?? null;
  return kind === 'amount' ? (units.find((one) => one !== '%') ?? null) : null;
}

const VOID: ReadonlySet<string> = new Set(['cancelled', 'rejected', 'rolled_back', 'void']);

/** Fields with a usual value, such as the status of a receipt. */
export function stateFieldsOf<Field extends Pick<DeclaredField, 'allowed' | 'default'>>(
  fields: readonly Field[],
): readonly Field[] {
  return fields.filter((field) => field.allowed && typeof field.default === 'string');
}

/** The field that makes a record void; `undefined` if it is valid. */
export function voidStateOf<Field extends Pick<DeclaredField, 'name' | 'allowed' | 'default'>>(
  fields: readonly Field[],
  data: unknown,
): Field | undefined {
  const values = data as Readonly<Record<string, unknown>>;
  return stateFieldsOf(fields).find(({ name }) => VOID.has(String(values[name])));
}

export interface VoidStateProps {
  readonly fields: readonly Pick<DeclaredField, 'name' | 'allowed' | 'default'>[];
  readonly data: unknown;
  /** The fields that are shown anyway. */
  readonly isShown?: readonly { readonly name: string }[];
}

/** The state of a void record; nothing for a valid one. */
export function VoidState({ fields, data, isShown = [] }: VoidStateProps) {
  const field = voidStateOf(fields, data);
  if (field === undefined || isShown.some(({ name }) => name === field.name)) return null;
  const state = String((data as Readonly<Record<string, unknown>>)[field.name]);
  return (
    <>
      {' '}
      <StateTag state={state}>{sayAllowed(state)}</StateTag>
    </>
  );
}
