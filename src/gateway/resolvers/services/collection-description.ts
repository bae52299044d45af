/** The declaration of a collection in GraphQL, for callers who explore the schema. */

import type { JsonValue } from '../../../base/json/json.js';
import { declaredBounds } from '../../../base/model/bounds.js';
import type { Collection, Field as DeclaredField } from '../../../base/model/collection.js';
import { field, member, nullable, objectType } from '../../../base/scalars/declared-type.js';

export interface CollectionDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly labelField: string | undefined;
  readonly isDeclared: boolean;
  readonly version: number;
  readonly singular: string;
  readonly plural: string;
  readonly fields: readonly FieldDescription[];
}

interface FieldDescription {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly isUnique: boolean;
  readonly isIndexed: boolean;
  readonly allowed: readonly string[] | undefined;
  readonly format: string | undefined;
  readonly bounds: JsonValue | undefined;
  readonly targets: readonly string[];
  readonly default: JsonValue | undefined;
  readonly unit: string | undefined;
  readonly example: JsonValue | undefined;
  readonly deprecated: string | undefined;
  readonly fields: readonly FieldDescription[];
}

const FieldResult = objectType('CollectionField', 'A declared field of a collection.', {
  name: member.text('The stored name, as filters and JSON use it.'),
  type: member.text('text, number, boolean, datetime, reference or object.'),
  description: member.text('What the value means.'),
  isList: member.flag('It holds a list of such values.'),
  isRequired: member.flag('Every record that is written has it.'),
  isUnique: member.flag('No two records of a domain share a value.'),
  isIndexed: member.flag('Filters and orders by it are fast.'),
  allowed: nullable.texts('The values allowed; null: any.'),
  format: nullable.text('What a text or a datetime is, e.g. "month".'),
  bounds: nullable.json(
    'What a value may be beyond its type, in the words of JSON Schema, e.g. {"minimum": 0}. ' +
      'A moment may be bounded by "now".',
  ),
  targets: member.texts('The collections a reference may point to.'),
  default: nullable.json(
    'The value that a new record gets if it has none. For a datetime, "now" is the time ' + 'of creation.',
  ),
  unit: nullable.text('The unit, e.g. "INR".'),
  example: nullable.json('A typical value.'),
  deprecated: nullable.text('Why it is deprecated, and what replaces it.'),
});
field(FieldResult, 'fields', () => [FieldResult], { description: 'The members of an object.' });

export const CollectionResult = objectType(
  'Collection',
  'A collection: what its records are and which fields they have.',
  {
    name: member.text('Its name in paths and arguments, e.g. "fee_receipt".'),
    title: member.text('The name shown to people.'),
    description: member.text('What one record is.'),
    labelField: nullable.text('The field that names a record to a person.'),
    isDeclared: member.flag('Declared with the service; false: registered at run time.'),
    version: member.whole(
      'Starts at 1 and increases by one with every change of the declaration. Send it as ' +
        '`ifVersion` to avoid overwriting a change made in the meantime.',
    ),
    singular: member.text('The field of this schema for one record, e.g. "feeReceipt".'),
    plural: member.text('The field of this schema for many, e.g. "feeReceipts".'),
    fields: member.list(FieldResult, 'The declared fields you may read.'),
  },
);

/** The part of a declaration that a caller may know. */
export interface ShownNames {
  isFieldShown(field: string): boolean;
  isCollectionShown(collection: string): boolean;
}

/** Leaves out the names that the caller may not know. */
export function describeCollection(collection: Collection, shown: ShownNames): CollectionDescription {
  const { name, title, description, isDeclared, version, singular, plural } = collection;
  const labelField =
    collection.labelField !== undefined && shown.isFieldShown(collection.labelField)
      ? collection.labelField
      : undefined;
  const fields = collection.fields
    .filter((field) => shown.isFieldShown(field.name))
    .map((field) => describeField(field, shown));
  return { name, title, description, labelField, isDeclared, version, singular, plural, fields };
}

function describeField(field: DeclaredField, shown: ShownNames): FieldDescription {
  const { name, type, description, isList, isRequired, isUnique, isIndexed } = field;
  const { allowed, format, unit, deprecated } = field;
  return {
    ...{ name, type, description, isList, isRequired, isUnique, isIndexed },
    ...{ allowed, format, unit, deprecated, default: field.default },
    bounds: field.bounds && { ...declaredBounds(field.bounds) },
    targets: field.targets.filter((target) => shown.isCollectionShown(target)),
    example: field.example as JsonValue | undefined,
    fields: field.fields.map((member) => describeField(member, shown)),
  };
}
