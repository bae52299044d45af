/** GraphQL types for the dry run of a declaration, and for undeclared fields of records. */
import { Field, Int, ObjectType } from 'type-graphql';
import type { ErrorDetail } from '../../errors.js';
import type { JsonValue } from '../../json.js';
import { GraphqlJsonScalar } from '../../scalars/json-scalar.js';
import type { CollectionTrial } from '../../store/catalog/catalog.js';
import type { DefinitionChange } from '../../store/catalog/definition-changes.js';
import { FieldChangeKind } from '../records/record-version-result.js';

@ObjectType('DefinitionChange', {
  description: 'What differs in a part of the declaration of a collection.',
  simpleResolvers: true,
})
class DefinitionChangeResult {
  @Field(() => String, { description: 'Which part, e.g. "/title" or "/fields/motto".' })
  readonly pointer!: string;

  @Field(() => FieldChangeKind, { description: 'What becomes of it.' })
  readonly kind!: FieldChangeKind;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'What stands there now.' })
  readonly before!: JsonValue | undefined;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'What is to stand there.' })
  readonly after!: JsonValue | undefined;
}

@ObjectType('DefinitionFault', {
  description: 'Why a declaration is refused.',
  simpleResolvers: true,
})
class DefinitionFaultResult {
  @Field(() => String, { nullable: true, description: 'Of which part, e.g. "/fields/motto".' })
  readonly pointer!: string | undefined;

  @Field(() => String, { description: 'The reason, and the way out.' })
  readonly detail!: string;
}

@ObjectType('CollectionTrial', {
  description: 'What registering or altering a collection would come to.',
  simpleResolvers: true,
})
export class CollectionTrialResult {
  @Field(() => String, { description: 'The name of the collection.' })
  readonly name!: string;

  @Field(() => Boolean, { description: 'It would be registered; false: altered.' })
  readonly isNew!: boolean;

  @Field(() => [DefinitionChangeResult], {
    description: 'What differs from the declaration that is in force; of a new one all of it.',
  })
  readonly changes!: readonly DefinitionChangeResult[];

  @Field(() => [DefinitionFaultResult], { description: 'Why it is refused; none: it is not.' })
  readonly faults!: readonly DefinitionFaultResult[];

  @Field(() => [DefinitionFaultResult], {
    description:
      'Fields that would go and operations of the last 30 days use: refused too, unless `dropUsedFields`.',
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

  @Field(() => Int, { description: 'In how many of the records that were looked at.' })
  readonly recordCount!: number;
}

@ObjectType('UndeclaredFields', {
  description: 'What was found beside the declaration in a sample of records.',
  simpleResolvers: true,
})
export class UndeclaredFieldsResult {
  @Field(() => Int, { description: 'How many records were looked at: a thousand at most.' })
  readonly sampledCount!: number;

  @Field(() => [UndeclaredFieldResult], { description: 'The most frequent first, a hundred at most.' })
  readonly fields!: readonly UndeclaredFieldResult[];
}
