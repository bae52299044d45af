/**
 * What a document selects, with fragments expanded and `@skip` and `@include` applied as graphql-js does it.
 */
import {
  type ASTNode,
  type FieldNode,
  type GraphQLResolveInfo,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';

/** What of graphql-js's resolve info says which fields are selected. */
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
  if (!isObjectType(type)) throw new Error(`${typeName} is no object type of the schema`);
  return collectSubfields(info.schema, info.fragments, info.variableValues, type, nodes);
}

/**
 * Remembers what is made of a selection for as long as the parsed document lives: documents are parsed once
 * and sent many times. A selection that variables change is made anew each time.
 */
export class SelectionMemory<T extends object> {
  readonly #byNode = new WeakMap<FieldNode, T>();

  recall(info: SelectionInfo, make: () => T): T {
    const [node] = info.fieldNodes;
    if (!node || info.fieldNodes.length > 1 || dependsOnVariables(info)) return make();
    const known = this.#byNode.get(node);
    if (known) return known;
    const made = make();
    this.#byNode.set(node, made);
    return made;
  }
}

const DEPENDING = new WeakMap<OperationDefinitionNode, boolean>();

/**
 * True where a `@skip` or `@include` takes a variable, or a field within the selection: arguments of root
 * fields are the resolvers'.
 */
function dependsOnVariables(info: SelectionInfo): boolean {
  const known = DEPENDING.get(info.operation);
  if (known !== undefined) return known;
  let found = false;
  const look = (root: ASTNode) =>
    visit(root, {
      Directive(directive) {
        if (directive.arguments?.some((argument) => argument.value.kind === Kind.VARIABLE)) found = true;
      },
      Argument(argument, _key, _parent, _path, ancestors) {
        if (isOfRootField(ancestors, info.operation)) return;
        visit(argument, {
          Variable() {
            found = true;
          },
        });
      },
    });
  look(info.operation);
  for (const fragment of Object.values(info.fragments)) look(fragment);
  DEPENDING.set(info.operation, found);
  return found;
}

/**
 * The ancestors of an argument are the operation, its selection set, the list in it, the field, the list of
 * arguments.
 */
function isOfRootField(
  ancestors: readonly (ASTNode | readonly ASTNode[])[],
  operation: OperationDefinitionNode,
): boolean {
  return ancestors[0] === operation && ancestors.length <= ROOT_ARGUMENT_DEPTH;
}

const ROOT_ARGUMENT_DEPTH = 5;
