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
