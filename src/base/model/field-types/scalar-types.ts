/**
 * The list of the scalar types. A new one needs a value in a file of this folder and a line here; the
 * compiler reports the other places.
 */
import { BOOLEAN } from './boolean.js';
import { DATE, DATETIME } from './datetime.js';
import { DECIMAL, NUMBER } from './number.js';
import type { ScalarType } from './scalar-type.js';
import { EMAIL, MONTH, SESSION, TELEPHONE, TEXT } from './text.js';

const TYPES = {
  boolean: BOOLEAN,
  number: NUMBER,
  decimal: DECIMAL,
  datetime: DATETIME,
  date: DATE,
  text: TEXT,
  month: MONTH,
  session: SESSION,
  phone: TELEPHONE,
  email: EMAIL,
} as const satisfies Readonly<Record<string, ScalarType>>;

export type ScalarName = keyof typeof TYPES;

export const SCALAR_TYPES: Readonly<Record<ScalarName, ScalarType>> = TYPES;

/** The type in a declaration. Several scalar types share one and differ by the format. */
export type FieldType = (typeof TYPES)[ScalarName]['declared']['type'] | 'reference' | 'object';

/** The formats a declaration may add to a type. */
export type FieldFormat = Extract<
  (typeof TYPES)[ScalarName]['declared'],
  { readonly format: string }
>['format'];

/** The kind of the value of a field, or of each element of a list. */
export type ValueKind = ScalarName | 'reference' | 'object';

/** The members of a field's declaration that determine its type. */
interface DeclaredType {
  readonly type: FieldType;
  readonly format?: FieldFormat | undefined;
  readonly isDecimal?: boolean;
}

const NAMES = Object.keys(TYPES) as readonly ScalarName[];

export function valueKindOf(field: DeclaredType): ValueKind {
  if (field.type === 'reference' || field.type === 'object') return field.type;
  const name = findScalar(field);
  if (name === undefined) throw new Error(`no field type ${field.type} of the format ${field.format}`);
  return name;
}

/** `undefined` for a combination that may not be declared, such as a number of the format `month`. */
export function findScalar({ type, format, isDecimal = false }: DeclaredType): ScalarName | undefined {
  return DECLARED.find((one) => one.type === type && one.format === format && one.isDecimal === isDecimal)
    ?.name;
}

/** Looked through for every field of every record that is written. */
const DECLARED: readonly {
  readonly name: ScalarName;
  readonly type: string;
  readonly format: string | undefined;
  readonly isDecimal: boolean;
}[] = NAMES.map((name) => {
  const { type, format, isDecimal = false } = SCALAR_TYPES[name].declared;
  return { name, type, format, isDecimal };
});

export function isScalarName(name: string): name is ScalarName {
  return Object.hasOwn(TYPES, name);
}

/** The type of the field's value, of each element for a list; `undefined` for references and objects. */
export function scalarTypeOf(field: DeclaredType): ScalarType | undefined {
  const kind = valueKindOf(field);
  return kind === 'reference' || kind === 'object' ? undefined : SCALAR_TYPES[kind];
}

/** A table by the names of the types. */
export function byScalar<Value>(
  make: (type: ScalarType, name: ScalarName) => Value,
): Readonly<Record<ScalarName, Value>> {
  const entries = NAMES.map((name) => [name, make(SCALAR_TYPES[name], name)]);
  return Object.fromEntries(entries) as Record<ScalarName, Value>;
}
