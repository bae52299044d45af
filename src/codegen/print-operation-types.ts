/**
 * GraphQL operations as TypeScript: the text of each, and the types of its variables and of its result.
 * Printed of the selection itself, so that a result has what was asked for and nothing else.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  typeFromAST,
  validate,
} from 'graphql';
import { ServiceError } from '../errors.js';
import { docComment, group, union } from './json-schema-type.js';

/** A document, and where it is from for whoever has to mend it. */
export interface OperationDocument {
  readonly source: string;
  readonly text: string;
}

/** As values travel in JSON; what is not here travels as text. */
const SCALARS: Readonly<Record<string, string>> = {
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
  JSON: 'unknown',
  JSONObject: '{ readonly [name: string]: unknown }',
};

/** @throws INVALID_VALUE (400) for a document that the schema does not answer, with its place */
export function printOperationTypes(schema: GraphQLSchema, documents: readonly OperationDocument[]): string {
  const definitions = documents.flatMap((document) => parseDocument(document).definitions);
  const fragments = definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  assertValid(schema, documents, fragments);
  const printer = new OperationPrinter(schema, fragments);
  const printed = operations.map((operation) => printer.print(operation));
  return [
    '/** The text of an operation, which carries the types of its result and its variables. */',
    'export type OperationText<Result, Variables> = string & {',
    '  readonly __types?: (variables: Variables) => Result;',
    '};\n',
    ...printed,
    ...printer.inputTypes(),
  ].join('\n');
}

function parseDocument({ source, text }: OperationDocument) {
  try {
    return parse(text, { noLocation: false });
  } catch (error) {
    throw unanswered(source, String(error));
  }
}

function assertValid(
  schema: GraphQLSchema,
  documents: readonly OperationDocument[],
  fragments: readonly FragmentDefinitionNode[],
): void {
  for (const document of documents) {
    const { definitions } = parseDocument(document);
    const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
    for (const operation of operations) {
      if (operation.name === undefined) throw unanswered(document.source, 'an operation needs a name.');
      const used = usedFragments(operation.selectionSet, fragments, new Set());
      const [fault] = validate(schema, { kind: Kind.DOCUMENT, definitions: [operation, ...used] });
      if (fault) throw unanswered(document.source, fault.message);
    }
  }
}

function unanswered(source: string, detail: string): ServiceError {
  return new ServiceError('INVALID_VALUE', `${source}: ${detail}`);
}

/** The fragments that a selection spreads, and those that these spread in their turn. */
function usedFragments(
  { selections }: SelectionSetNode,
  fragments: readonly FragmentDefinitionNode[],
  seen: Set<FragmentDefinitionNode>,
): ReadonlySet<FragmentDefinitionNode> {
  for (const selection of selections) {
    if (selection.kind !== Kind.FRAGMENT_SPREAD) {
      if (selection.selectionSet) usedFragments(selection.selectionSet, fragments, seen);
      continue;
    }
    const fragment = fragments.find(({ name }) => name.value === selection.name.value);
    if (fragment === undefined || seen.has(fragment)) continue;
    seen.add(fragment);
    usedFragments(fragment.selectionSet, fragments, seen);
  }
  return seen;
}

class OperationPrinter {
  readonly #schema: GraphQLSchema;
  readonly #fragments: readonly FragmentDefinitionNode[];
  readonly #inputs = new Set<GraphQLInputObjectType>();

  constructor(schema: GraphQLSchema, fragments: readonly FragmentDefinitionNode[]) {
    this.#schema = schema;
    this.#fragments = fragments;
  }

  print(operation: OperationDefinitionNode): string {
    const name = operation.name?.value ?? '';
    const root = this.#schema.getRootType(operation.operation);
    if (!root) throw new Error(`the schema has no ${operation.operation}`);
    const used = usedFragments(operation.selectionSet, this.#fragments, new Set());
    const text = [operation, ...used].map((node) => print(node)).join('\n');
    return [
      `export type ${name}Variables = ${this.#variablesOf(operation)};\n`,
      `export type ${name}Result = ${this.#objectOf(root.name, [operation.selectionSet], '')};\n`,
      `export const ${name}: OperationText<${name}Result, ${name}Variables> = ${JSON.stringify(text)};\n`,
    ].join('\n');
  }

  /** The input types that the variables need, which may be of themselves. */
  inputTypes(): readonly string[] {
    const printed: string[] = [];
    // The set grows while it is gone through.
    for (const type of this.#inputs) {
      const members = Object.values(type.getFields()).map((field) => {
        const mark = isRequiredInputField(field) ? '' : '?';
        const about = docComment({ ...(field.description && { description: field.description }) }, '  ');
        return `${about}  readonly ${field.name}${mark}: ${this.#inputOf(field.type)};`;
      });
      printed.push(`export interface ${type.name} {\n${members.join('\n')}\n}\n`);
    }
    return printed;
  }

  #variablesOf({ variableDefinitions = [] }: OperationDefinitionNode): string {
    const members = variableDefinitions.map(({ variable, type: node, defaultValue }) => {
      // The document is valid: its types are there.
      const type = typeFromAST(this.#schema, node as never) as GraphQLInputType;
      const mark = isNonNullType(type) && defaultValue === undefined ? '' : '?';
      return `  readonly ${variable.name.value}${mark}: ${this.#inputOf(type)};`;
    });
    return members.length === 0 ? 'Readonly<Record<string, never>>' : `{\n${members.join('\n')}\n}`;
  }

  #inputOf(type: GraphQLInputType): string {
    if (isNonNullType(type)) return this.#givenInputOf(type.ofType);
    return `${this.#givenInputOf(type)} | null`;
  }

  #givenInputOf(type: GraphQLInputType): string {
    if (isNonNullType(type)) return this.#givenInputOf(type.ofType);
    if (isListType(type)) return `readonly ${group(this.#inputOf(type.ofType))}[]`;
    if (isInputObjectType(type)) {
      this.#inputs.add(type);
      return type.name;
    }
    return namedType(type);
  }

  #outputOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], indent: string): string {
    if (isNonNullType(type)) return this.#givenOutputOf(type.ofType, sets, indent);
    return `${this.#givenOutputOf(type, sets, indent)} | null`;
  }

  #givenOutputOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], indent: string): string {
    if (isNonNullType(type)) return this.#givenOutputOf(type.ofType, sets, indent);
    if (isListType(type)) return `readonly ${group(this.#outputOf(type.ofType, sets, indent))}[]`;
    const named = getNamedType(type);
    if (isAbstractType(named)) {
      const possible = this.#schema.getPossibleTypes(named);
      return union(possible.map(({ name }) => this.#objectOf(name, sets, indent)));
    }
    return isObjectType(named) ? this.#objectOf(named.name, sets, indent) : namedType(named);
  }

  #objectOf(typeName: string, sets: readonly SelectionSetNode[], indent: string): string {
    const type = this.#schema.getType(typeName);
    if (!isObjectType(type)) throw new Error(`${typeName} is no object type`);
    const fields = new Map<string, { readonly nodes: FieldNode[]; isCertain: boolean }>();
    for (const set of sets) this.#collect(type.name, set, { isCertain: true, fields });
    const inner = `${indent}  `;
    const members = [...fields].map(([alias, { nodes, isCertain }]) => {
      const name = nodes[0]?.name.value ?? '';
      const mark = isCertain ? '' : '?';
      if (name === '__typename') return `${inner}readonly ${alias}${mark}: ${JSON.stringify(typeName)};`;
      const field = type.getFields()[name];
      if (!field) throw new Error(`${typeName} has no ${name}`);
      const inside = nodes.flatMap((node) => node.selectionSet ?? []);
      return `${inner}readonly ${alias}${mark}: ${this.#outputOf(field.type, inside, inner)};`;
    });
    return `{\n${members.join('\n')}\n${indent}}`;
  }

  /** What a directive may leave out is certain only where it is selected without one, too. */
  #collect(typeName: string, { selections }: SelectionSetNode, into: Collected): void {
    for (const selection of selections) {
      const isCertain = into.isCertain && (selection.directives ?? []).length === 0;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const known = into.fields.get(key);
        if (known) known.nodes.push(selection);
        else into.fields.set(key, { nodes: [selection], isCertain });
        if (known && isCertain) known.isCertain = true;
        continue;
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT
          ? selection
          : this.#fragments.find(({ name }) => name.value === selection.name.value);
      if (!fragment || !this.#isOf(typeName, fragment.typeCondition?.name.value)) continue;
      this.#collect(typeName, fragment.selectionSet, { ...into, isCertain });
    }
  }

  #isOf(typeName: string, condition: string | undefined): boolean {
    if (condition === undefined || condition === typeName) return true;
    const abstract = this.#schema.getType(condition);
    return (
      isAbstractType(abstract) &&
      this.#schema.getPossibleTypes(abstract).some(({ name }) => name === typeName)
    );
  }
}

interface Collected {
  readonly isCertain: boolean;
  readonly fields: Map<string, { readonly nodes: FieldNode[]; isCertain: boolean }>;
}

function namedType(type: unknown): string {
  if (isEnumType(type)) return union(type.getValues().map(({ name }) => JSON.stringify(name)));
  return SCALARS[String(type)] ?? 'string';
}
