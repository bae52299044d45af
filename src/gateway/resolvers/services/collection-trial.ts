/** GraphQL types for the dry run of a declaration, and for undeclared fields of records. */
import { Field, Int, ObjectType } from 'type-graphql';
import type { ErrorDetail } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import type { CollectionTrial } from '../../../store/catalog/catalog.js';
import type { DefinitionChange } from '../../../store/catalog/definition-changes.js';
import { FieldChangeKind } from '../records/record-version-result.js';

@ObjectType('DefinitionChange', {
  description: 'A difference in a part of the declaration of a collection.',
  simpleResolvers: true,
})
class DefinitionChangeResult {
  @Field(() => String, { description: 'The part, e.g. "/title" or "/fields/motto".' })
  readonly pointer!: string;

  @Field(() => FieldChangeKind, { description: 'What happens to it.' })
  readonly kind!: FieldChangeKind;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'The current value.' })
  readonly before!: JsonValue | undefined;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'The new value.' })
  readonly after!: JsonValue | undefined;
}

@ObjectType('DefinitionFault', {
  description: 'Why a declaration is rejected.',
  simpleResolvers: true,
})
class DefinitionFaultResult {
  @Field(() => String, { nullable: true, description: 'The part, e.g. "/fields/motto".' })
  readonly pointer!: string | undefined;

  @Field(() => String, { description: 'The reason, and how to correct it.' })
  readonly detail!: string;
}

@ObjectType('CollectionTrial', {
  description: 'The effect of registering or altering a collection.',
  simpleResolvers: true,
})
export class CollectionTrialResult {
  @Field(() => String, { description: 'The name of the collection.' })
  readonly name!: string;

  @Field(() => Boolean, { description: 'Whether it would be registered; false: altered.' })
  readonly isNew!: boolean;

  @Field(() => [DefinitionChangeResult], {
    description:
      'The differences from the current declaration; for a new collection the whole ' + 'declaration.',
  })
  readonly changes!: readonly DefinitionChangeResult[];

  @Field(() => [DefinitionFaultResult], { description: 'Why it is rejected. Empty if it is accepted.' })
  readonly faults!: readonly DefinitionFaultResult[];

  @Field(() => [DefinitionFaultResult], {
    description:
      'Removed fields that operations of the last 30 days use. The change is rejected ' +
      'unless `dropUsedFields` is set.',
  })
  readonly useFaults!: readonly DefinitionFaultResult[];
}

const KINDS: Readonly<Record<DefinitionChange['kind'], FieldChangeKind>> = {
  added: FieldChangeKind.ADDED,
  removed: FieldChangeKind.REMOVED,
  changed: FieldChangeKind.CHANGED,
};

export function toTrialResult(trial: CollectionTrial): CollectionTrialResult {
  return {
    name: trial.name,
    isNew: trial.isNew,
    changes: trial.changes.map((change) => ({
      pointer: change.pointer,
      kind: KINDS[change.kind],
      before: change.before as JsonValue | undefined,
      after: change.after as JsonValue | undefined,
    })),
    faults: trial.faults.map(toFaultResult),
    useFaults: trial.useFaults.map(toFaultResult),
  };
}

function toFaultResult({ pointer, detail }: ErrorDetail): DefinitionFaultResult {
  return { pointer, detail };
}

@ObjectType('UndeclaredField', {
  description: 'A field that records have and their collection does not declare.',
  simpleResolvers: true,
})
class UndeclaredFieldResult {
  @Field(() => String, { description: 'Its stored name; cut after 200 characters.' })
  readonly name!: string;

  @Field(() => [String], { description: 'What JSON calls its values, e.g. "string", "number" and "null".' })
  readonly types!: readonly string[];

  @Field(() => Int, { description: 'The number of records in the sample that have it.' })
  readonly recordCount!: number;
}

@ObjectType('UndeclaredFields', {
  description: 'The undeclared fields found in a sample of records.',
  simpleResolvers: true,
})
export class UndeclaredFieldsResult {
  @Field(() => Int, { description: 'The number of records in the sample, at most a thousand.' })
  readonly sampledCount!: number;

  @Field(() => [UndeclaredFieldResult], { description: 'The most frequent first, a hundred at most.' })
  readonly fields!: readonly UndeclaredFieldResult[];
}
