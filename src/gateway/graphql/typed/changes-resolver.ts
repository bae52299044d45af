/** The subscription of one collection: `taskChanged`. */
import { Args, ID, Int, Resolver, Subscription } from 'type-graphql';
import { withArticle } from '../../../base/languages/graphql-names.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { argumentsType, field, objectType, type TypeClass } from '../../../base/scalars/declared-type.js';
import { CI_ARGUMENT } from '../../resolvers/records/oquery-arguments.js';
import { toFilter } from '../../resolvers/records/record-resolver.js';
import { SelectionMemory } from '../../resolvers/records/selection.js';
import { neverExecuted, type SubscribeData } from '../live/live-context.js';
import {
  CHANGE_FIELDS,
  ChangeOperation,
  type ChangeShape,
  toChangeShape,
} from '../live/record-change-event.js';
import { subscribeToRecords } from '../live/subscribe-to-records.js';
import { typedForm } from './typed-form.js';
import type { TypedCollection, TypedModel } from './typed-model.js';
import type { TypedTypes } from './typed-types.js';
import { toSelected, type WhereInputs } from './where-inputs.js';

interface ChangedArguments {
  readonly where?: object | null;
  readonly oquery?: string | null;
  readonly ci?: boolean | null;
  readonly operations?: readonly ChangeOperation[] | null;
}

export function createChangesResolver(
  typed: TypedCollection,
  options: {
    readonly model: TypedModel;
    readonly types: TypedTypes;
    readonly whereInputs: WhereInputs;
  },
): new () => object {
  const { model, types, whereInputs } = options;
  const { collection, object, singular, plural } = typed;
  const changeType = createChangeType(typed, types);
  const form = typedForm(typed, model);
  const shapes = new SelectionMemory<ChangeShape>();
  const changedArguments = argumentsType({
    where: {
      type: whereInputs.ofCollection(typed),
      nullable: true,
      description:
        'Conditions on the fields as they are after the change; of a removed one, as they were at ' +
        'last. All of them hold.',
    },
    oquery: {
      type: String,
      nullable: true,
      description: 'A filter as in the REST interface. Holds together with `where`.',
    },
    ci: CI_ARGUMENT,
    operations: {
      type: [ChangeOperation],
      nullable: true,
      description: 'Only these; all if left out.',
    },
  });

  async function subscribe(live: SubscribeData<ChangedArguments>) {
    const { args, info } = live;
    const filter = toFilter(toSelected(args, typed), collection, {
      findCollection: (name) => model.byCollection.get(name)?.collection,
    });
    return await subscribeToRecords(live, {
      collection: collection.name,
      filter,
      operations: args.operations,
      shape: shapes.recall(info, () => toChangeShape(changeType.name, form, info)),
    });
  }

  @Resolver()
  class ChangesResolver {
    @Subscription(() => changeType, {
      name: `${singular}Changed`,
      description:
        `Changes of ${plural}, after their commit. Each ${object.typeName} is read under your own ` +
        'rights when it is sent; what you may not see is not sent.',
      subscribe,
    })
    changed(@Args(() => changedArguments) _args: ChangedArguments): object {
      return neverExecuted();
    }
  }

  return ChangesResolver;
}

function createChangeType(typed: TypedCollection, types: TypedTypes): TypeClass {
  const { typeName } = typed.object;
  const record = types.record(typed);
  const change = objectType(`${typeName}Change`, `A change of ${withArticle(typeName)}, committed.`);
  field(change, 'operation', () => ChangeOperation, { description: CHANGE_FIELDS.operation });
  field(change, 'id', () => ID, { description: CHANGE_FIELDS.id });
  field(change, 'version', () => Int, { description: CHANGE_FIELDS.version });
  field(change, 'changedAt', () => DateTime, { description: CHANGE_FIELDS.changedAt });
  field(change, 'record', () => record, { nullable: true, description: CHANGE_FIELDS.record });
  return change;
}
