/**
 * The selection of a document, with fragments expanded and `@skip` and `@include` applied as in graphql-js.
 */
import { type ASTNode, type FieldNode, type GraphQLResolveInfo, isObjectType, Kind, visit } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';

/** The part of graphql-js's resolve info that describes the selection. */
export type SelectionInfo = Pick<
  GraphQLResolveInfo,
  'schema' | 'fragments' | 'variableValues' | 'operation' | 'fieldNodes'
>;

/** The fields selected of an object type in `nodes`, by response key. */
export function selectedFields(
  typeName: string,
  nodes: readonly FieldNode[],
  info: SelectionInfo,
): ReadonlyMap<string, readonly FieldNode[]> {
  const type = info.schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`${typeName} is not an object type of the schema`);
  return collectSubfields(info.schema, info.fragments, info.variableValues, type, nodes);
}

/**
 * Caches data derived from a selection for as long as the parsed document lives: documents are parsed once
 * and sent many times. A selection that depends on variables is computed each time.
 */
export class SelectionMemory<T extends object> {
  readonly #byNode = new WeakMap<FieldNode, T | 'depends on variables'>();

  recall(info: SelectionInfo, make: () => T): T {
    const [node] = info.fieldNodes;
    if (!node || info.fieldNodes.length > 1) return make();
    const known = this.#byNode.get(node);
    if (typeof known === 'object') return known;
    const made = make();
    if (!known) this.#byNode.set(node, dependsOnVariables(info) ? 'depends on variables' : made);
    return made;
  }
}

/**
 * Whether a variable decides a `@skip` or `@include`, or is an argument within the selection. Arguments of
 * root fields do not count: their resolvers read them.
 */
function dependsOnVariables(info: SelectionInfo): boolean {
  let found = false;
  const look = (root: ASTNode) =>
    visit(root, {
      Directive(directive) {
        if (directive.arguments?.some((argument) => argument.value.kind === Kind.VARIABLE)) found = true;
      },
      Argument(argument, _key, _parent, _path, ancestors) {
        if (ancestors[0] === info.operation && ancestors.length <= ROOT_ARGUMENT_DEPTH) return;
        visit(argument, {
          Variable() {
            found = true;
          },
        });
      },
    });
  look(info.operation);
  for (const fragment of Object.values(info.fragments)) look(fragment);
  return found;
}

/** The ancestors of an argument: operation, its selection set, the list in it, field, list of arguments. */
const ROOT_ARGUMENT_DEPTH = 5;
