/**
 * Reads the arguments and selection on the records that point to a record, in the form that the database
 * prints.
 */
import { type FieldNode, getArgumentValues, isObjectType } from 'graphql';
import type { Filter } from '../../../../base/model/filter.js';
import type { ReferrersShape } from '../../../../store/sql/shape.js';
import { type PageArguments, toPageRequest, toSort } from '../../../resolvers/page-arguments.js';
import type { OrderByInput } from '../../../resolvers/records/generic-record.js';
import { type SelectedForm, toPageShape } from '../../../resolvers/records/page-shape.js';
import { toFilter } from '../../../resolvers/records/record-resolver.js';
import type { SelectionInfo } from '../../../resolvers/records/selection.js';
import type { TypedCollection, TypedModel, TypedReferrers } from '../typed-model.js';
import { type SelectingArguments, toSelected } from '../where-inputs.js';

/** The arguments as coerced by graphql-js. */
interface ReferrersArguments extends PageArguments, SelectingArguments {
  readonly orderBy?: readonly OrderByInput[] | null;
}

/**
 * @throws as the arguments of a page do: MALFORMED_FILTER, INVALID_VALUE, LIMIT_EXCEEDED (400). The cursor of
 *   another order is detected when it is read.
 */
export function toReferrersShape(
  referrers: TypedReferrers,
  {
    typeName,
    source,
    form,
    nodes,
    model,
    info,
  }: {
    /** The type of the record they point to. */
    readonly typeName: string;
    readonly source: TypedCollection;
    readonly form: SelectedForm;
    readonly nodes: readonly FieldNode[];
    readonly model: TypedModel;
    readonly info: SelectionInfo;
  },
): ReferrersShape {
  const asked = argumentsOf(typeName, nodes, info);
  return {
    kind: 'referrers',
    collection: referrers.collection,
    path: referrers.path,
    filter: filterOf(asked, source, model),
    sort: toSort(asked.orderBy) ?? [],
    ...toPageRequest(asked, model.pages),
    page: toPageShape(form, { ...info, fieldNodes: nodes }),
  };
}

function argumentsOf(
  typeName: string,
  [node]: readonly FieldNode[],
  info: SelectionInfo,
): ReferrersArguments {
  const type = info.schema.getType(typeName);
  const definition = node && isObjectType(type) ? type.getFields()[node.name.value] : undefined;
  if (!node || !definition) throw new Error(`${typeName} has no such field`);
  return getArgumentValues(definition, node, info.variableValues);
}

function filterOf(args: ReferrersArguments, source: TypedCollection, model: TypedModel): Filter {
  return toFilter(toSelected(args, source), source.collection, {
    findCollection: (name) => model.byCollection.get(name)?.collection,
  });
}
