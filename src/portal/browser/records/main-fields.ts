/** More do not fit into one line of a large screen. */
const MOST_FACTS = 7;

/** The parts of the declaration of a field that decide whether it is a main field. */
export interface DescribedField {
  readonly name: string;
  readonly type: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly isIndexed: boolean;
}

export interface DescribedRecords<Field> {
  readonly labelField: string | null;
  readonly fields: readonly Field[];
}

/**
 * Returns the main fields of a record in the order of the declaration: the required ones and, if these are
 * few, the indexed ones. The label is left out, because it is the heading; so are lists, objects, and fields
 * without a value.
 */
export function mainFieldsOf<Field extends DescribedField>(
  { labelField, fields }: DescribedRecords<Field>,
  record: Readonly<Record<string, unknown>>,
): readonly Field[] {
  const said = fields.filter(
    ({ name, type, isList }) =>
      name !== labelField && type !== 'object' && !isList && (record[name] ?? '') !== '',
  );
  const required = said.filter(({ isRequired }) => isRequired);
  const indexed = said.filter(({ isRequired, isIndexed }) => !isRequired && isIndexed);
  const main = new Set([...required, ...indexed].slice(0, MOST_FACTS));
  return fields.filter((field) => main.has(field));
}

/** More would mean too many requests to the gateway. */
const MOST_ADDRESSES = 5;
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;
const PHONE = /^\+?\d{10,15}$/;
const IS_PHONE_FIELD = /phone|mobile|tel|whatsapp|^sms/;

/**
 * Returns each address once, in the order of the fields. A number is a phone number if its field is declared
 * as one.
 */
export function addressesOfRecord(
  { fields }: { readonly fields: readonly { readonly name: string }[] },
  data: Readonly<Record<string, unknown>>,
): readonly string[] {
  const found = fields.flatMap(({ name }) => {
    const value = data[name];
    if (typeof value !== 'string') return [];
    const isAddress = EMAIL.test(value) || (IS_PHONE_FIELD.test(name) && PHONE.test(value));
    return isAddress ? [value] : [];
  });
  return [...new Set(found)].slice(0, MOST_ADDRESSES);
}
