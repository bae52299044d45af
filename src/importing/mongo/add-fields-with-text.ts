/**
 * Notes the fields of the first level in which a text stands. What is found of a column says what its texts
 * could be read as; documents are taken as they are, so that a `"Y"` is no yes and a `"12"` no number.
 */
export function addFieldsWithText(fields: Set<string>, document: Readonly<Record<string, unknown>>): void {
  for (const name in document) if (typeof document[name] === 'string') fields.add(name);
}
