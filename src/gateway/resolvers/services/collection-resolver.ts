import { declaredBounds } from '../../../base/model/bounds.js';
import { type Collection, type Field as DeclaredField } from '../../../base/model/collection.js';
import type { Scope } from '../../../base/model/scope.js';
import { field, member, nullable, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import { assertInReach, isFieldInReach, isInReach } from '../../../store/access/access.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { FieldChangeKind } from '../records/history-resolver.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

const FieldResult = objectType('CollectionField', 'A declared field of a collection.', {
  name: member.text('The stored name, as filters and JSON use it.'),
  type: member.text('text, number, boolean, datetime, reference or object.'),
  description: member.text('The meaning of the value.'),
  isList: member.flag('It holds a list of such values.'),
  isRequired: member.flag('Every record that is written has it.'),
  isUnique: member.flag('No two records of a domain share a value.'),
  isIndexed: member.flag('Filters and orders by it are fast.'),
  allowed: nullable.texts('The values allowed; null: any.'),
  format: nullable.text('The format of a text or a datetime, e.g. "month".'),
  bounds: nullable.anyJson(
    'Bounds of a value beyond its type, in the words of JSON Schema, e.g. {"minimum": 0}. ' +
      'A moment may be bounded by "now".',
  ),
  targets: member.texts('The collections a reference may point to.'),
  names: nullable.text('The field of other records, e.g. "class.name", one of which has the value.'),
  default: nullable.json(
    'The value that a new record gets if it has none. For a datetime, "now" is the time ' + 'of creation.',
  ),
  unit: nullable.text('The unit, e.g. "INR".'),
  example: nullable.anyJson('A typical value.'),
  deprecated: nullable.text('Why it is deprecated, and what replaces it.'),
});
field(FieldResult, 'fields', () => [FieldResult], { description: 'The members of an object.' });
type FieldDescription = ValueOf<typeof FieldResult> & { readonly fields: readonly FieldDescription[] };

const CollectionResult = objectType(
  'Collection',
  'A collection: what its records are and which fields they have.',
  {
    name: member.text('Its name in paths and arguments, e.g. "fee_receipt".'),
    title: member.text('The name shown to people.'),
    description: member.text('The meaning of a record.'),
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

/** Leaves out the names that the caller may not know. */
function describe(catalog: Catalog, scope: Scope, collection: Collection): ValueOf<typeof CollectionResult> {
  const { labelField } = collection;
  const isShown = (field: string) => isFieldInReach(scope, collection, field);
  const isTargetShown = (name: string) => {
    const other = catalog.find(name);
    return other !== undefined && isInReach(scope, other);
  };
  const namesOf = (name: string) => {
    const link = collection.links.find(({ in: within, reference, members: [first] }) => {
      return (
        within.length === 0 && reference === undefined && first?.field === name && first.path.length === 1
      );
    });
    return link && isTargetShown(link.target) ? `${link.target}.${link.members[0]?.path[0]}` : undefined;
  };
  return {
    ...collection,
    labelField: labelField !== undefined && isShown(labelField) ? labelField : undefined,
    fields: collection.fields
      .filter(({ name }) => isShown(name))
      .map((field) => ({ ...describeField(field, isTargetShown), names: namesOf(field.name) })),
  };
}

function describeField(field: DeclaredField, isTargetShown: (name: string) => boolean): FieldDescription {
  return {
    ...field,
    bounds: field.bounds && declaredBounds(field.bounds),
    targets: field.targets.filter(isTargetShown),
    fields: field.fields.map((one) => describeField(one, isTargetShown)),
  };
}

const DefinitionChangeResult = objectType(
  'DefinitionChange',
  'A difference in a part of the declaration of a collection.',
  {
    pointer: member.text('The part, e.g. "/title" or "/fields/motto".'),
    kind: member.of(FieldChangeKind, 'What happens to it.'),
    before: nullable.anyJson('The current value.'),
    after: nullable.anyJson('The new value.'),
  },
);

const DefinitionFaultResult = objectType('DefinitionFault', 'Why a declaration is rejected.', {
  pointer: nullable.text('The part, e.g. "/fields/motto".'),
  detail: member.text('The reason, and how to correct it.'),
});

const CollectionTrialResult = objectType(
  'CollectionTrial',
  'The effect of registering or altering a collection.',
  {
    name: member.text('The name of the collection.'),
    isNew: member.flag('Whether it would be registered; false: altered.'),
    changes: member.list(
      DefinitionChangeResult,
      'The differences from the current declaration; for a new collection the whole ' + 'declaration.',
    ),
    faults: member.list(DefinitionFaultResult, 'Why it is rejected. Empty if it is accepted.'),
    useFaults: member.list(
      DefinitionFaultResult,
      'Removed fields that operations of the last 30 days use. The change is rejected ' +
        'unless `dropUsedFields` is set.',
    ),
  },
);

const UndeclaredFieldResult = objectType(
  'UndeclaredField',
  'A field that records have and their collection does not declare.',
  {
    name: member.text('Its stored name; cut after 200 characters.'),
    types: member.texts('The JSON types of its values, e.g. "string", "number" and "null".'),
    recordCount: member.whole('The number of records in the sample that have it.'),
  },
);

const UndeclaredFieldsResult = objectType(
  'UndeclaredFields',
  'The undeclared fields found in a sample of records.',
  {
    sampledCount: member.whole('The number of records in the sample, at most a thousand.'),
    fields: member.list(UndeclaredFieldResult, 'The most frequent first, a hundred at most.'),
  },
);

const FieldUseResult = objectType('FieldUse', 'The use of a field of a collection by an operation.', {
  operation: nullable.text(
    'The name of the operation; of one without a name, or a REST request, its path, e.g. ' +
      '"/o/recs/:collection"; null: a subscription without a name.',
  ),
  keyId: nullable.id('The API key that sent it; null: users who signed in.'),
  keyName: nullable.text('The name of the key; null if it was removed or belongs to another domain.'),
  lastUsedOn: member.day('The last day of use, in UTC.'),
});

interface CollectionServices {
  readonly catalog: Catalog;
}

export const CollectionResolver = serviceResolver(
  ({ query, mutation, done }: FieldRows<CollectionServices>) => ({
    collections: query(
      member.list(CollectionResult, 'The collections you may read or write, by name, with their fields.'),
      {},
      ({ catalog }, scope) =>
        catalog
          .list()
          .filter((collection) => isInReach(scope, collection))
          .map((collection) => describe(catalog, scope, collection)),
    ),
    /** @throws NOT_FOUND, GONE, FORBIDDEN */
    collection: query(
      member.of(
        CollectionResult,
        'One collection with its fields. Errors: NOT_FOUND, GONE when it was dropped, FORBIDDEN when ' +
          'you may do nothing with its records.',
      ),
      { name: member.text('Its name, e.g. "task".') },
      async ({ catalog }, scope, { name }) => {
        const collection = catalog.get(name, scope);
        assertInReach(scope, collection);
        return describe(catalog, scope, collection);
      },
    ),
    /** @throws NOT_FOUND, GONE, INVALID_VALUE, FORBIDDEN */
    fieldUses: query(
      member.list(
        FieldUseResult,
        'The operations and REST requests of the last 30 days in your domain that name a field, the latest ' +
          'first, at most 1,000. A use is seen within five seconds. For admins. Errors: ' +
          'NOT_FOUND, GONE, FORBIDDEN, INVALID_VALUE for a field that is not declared.',
      ),
      {
        collection: member.text('Its name, e.g. "task".'),
        field: member.text('The stored name of a field of the record, e.g. "due_date".'),
      },
      ({ catalog }, scope, { collection, field }) => catalog.fieldUses(scope, { collection, field }),
    ),
    /** @throws NOT_FOUND, GONE, FORBIDDEN */
    collectionDefinition: query(
      member.anyJson(
        'The whole declaration of a collection as it was written, for `alterCollection` to start from. For ' +
          'admins. Errors: NOT_FOUND, GONE, FORBIDDEN.',
      ),
      { name: member.text('Its name, e.g. "task".') },
      ({ catalog }, scope, { name }) => catalog.definitionFor(scope, name),
    ),
    /** @throws FORBIDDEN, INVALID_VALUE */
    collectionTrial: query(
      member.of(
        CollectionTrialResult,
        'The effect that `registerCollection` or `alterCollection` would have: the ' +
          'differences, and the reasons to reject it. Nothing is changed. For admins of the top' +
          ' domain. Errors: FORBIDDEN, INVALID_VALUE for an invalid declaration.',
      ),
      {
        definition: member.json(
          'The whole declaration. If no collection has its `name`, it would be registered.',
        ),
      },
      ({ catalog }, scope, { definition }) => catalog.tryChange(scope, definition),
    ),
    /** @throws NOT_FOUND, GONE, FORBIDDEN */
    undeclaredFields: query(
      member.of(
        UndeclaredFieldsResult,
        'The fields that records of your domain have and the collection does not declare, found in up to a ' +
          'thousand of them: those with the lowest and the highest ids. For admins. Errors: NOT_FOUND, ' +
          'GONE, FORBIDDEN.',
      ),
      { collection: member.text('Its name, e.g. "task".') },
      ({ catalog }, scope, { collection }) => catalog.undeclaredFields(scope, collection),
    ),
    /** @throws FORBIDDEN, CONFLICT when the name is taken, INVALID_VALUE */
    registerCollection: mutation(
      member.of(
        CollectionResult,
        'Registers a collection for every domain. Its typed fields appear in this schema. For admins ' +
          'of the top domain.',
      ),
      {
        definition: member.json(
          'The declaration, as in schema/collections, e.g. {name: "visit", fields: [{name: "on", type: ' +
            '"datetime"}]}.',
        ),
      },
      async ({ catalog }, scope, { definition }) =>
        describe(catalog, scope, await catalog.register(scope, definition)),
    ),
    alterCollection: mutation(
      member.of(
        CollectionResult,
        'Changes a registered collection to a new, whole definition. For admins of the top domain. Errors: ' +
          'CONFLICT with the reasons, e.g. that a field would go which operations of the last 30 days use; ' +
          'VERSION_CONFLICT.',
      ),
      {
        definition: member.json('The whole declaration. Its `name` identifies the collection.'),
        dropUsedFields: member.flag(
          'Allows removing fields that operations of the last 30 days use (`fieldUses`).',
          { defaultValue: false },
        ),
        ifVersion: nullable.whole('Change it only if the declaration still has this version.'),
      },
      async ({ catalog }, scope, { definition, dropUsedFields: dropsUsedFields, ifVersion }) => {
        const options = { dropsUsedFields, ifVersion };
        return describe(catalog, scope, await catalog.alter(scope, definition, options));
      },
    ),
    /** Dropped for good: every path to it answers GONE from now on. */
    dropCollection: done(
      'Drops a registered collection in every domain. Requests for it then fail with GONE. ' +
        'For admins of the top domain.',
      { name: member.text('Its name.') },
      ({ catalog }, scope, { name }) => catalog.drop(scope, name),
    ),
  }),
);
