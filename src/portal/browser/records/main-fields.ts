/** More do not stand in one line of a desk, and are read by nobody. */
const MOST_FACTS = 7;

/** What of the declaration of a field decides whether it is one of the main ones. */
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
 * The fields by which people know a record, in the order of the declaration: those that every record of the
 * collection has; then, where these are few, those that records are searched by. Its label is its heading;
 * lists and objects are no short text, and what the record does not say is left out.
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
