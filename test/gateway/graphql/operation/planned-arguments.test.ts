/** Planned values are those of graphql-js, its errors included, whatever is sent. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import { PlannedArguments } from '../../../../src/gateway/graphql/operation/planned-arguments.js';
import { PlannedVariables } from '../../../../src/gateway/graphql/operation/planned-variables.js';
import { runsOf } from '../../../full-length.js';

const SCHEMA = buildSchema(`
  enum Status { PRESENT ABSENT }
  scalar Anything
  input Condition { equals: String, in: [String!], isNull: Boolean = false }
  input Where {
    name: Condition, status: Status, marks: [[Int]], and: [Where!], rest: Anything, needed: Int! = 3
  }
  input Strict { needed: Int!, also: String }
  input Either @oneOf { a: Int, b: String }
  type Query {
    list(where: Where, first: Int = 10, ids: [ID!], strict: Strict, either: Either, flag: Boolean): Int
    one(id: ID!, where: Where! = { needed: 4 }): Int
  }
`);

const DOCUMENTS = [
  'query ($a: String) { list(where: {name: {equals: $a}}) }',
  'query ($a: String!, $b: Int) { list(where: {name: {equals: $a, isNull: null}, needed: 1}, first: $b) }',
  'query ($a: Where) { list(where: $a) }',
  'query ($a: [ID!]) { list(ids: $a, first: 3, flag: null) }',
  'query ($a: ID!, $b: ID! = "x") { list(ids: [$a, "two", $b]) }',
  'query ($b: [Int], $c: Int) { list(where: {marks: [$b, [1, $c], null]}) }',
  'query ($a: [[Int]]) { list(where: {marks: $a}) }',
  'query ($a: Status, $b: Anything) { list(where: {status: $a, rest: {deep: [$b]}}) }',
  'query ($a: [Where!], $b: Int!) { list(where: {and: $a, needed: $b}) }',
  'query ($a: String, $b: [String!]) { list(where: {and: [{name: {equals: $a}}, {name: {in: $b}}]}) }',
  'query ($a: Int!) { list(strict: {needed: $a}) }',
  'query ($a: Int!) { list(either: {a: $a}) }',
  'query ($a: ID!, $b: Where! = {needed: 9}) { one(id: $a, where: $b) }',
  'query ($a: ID!) { one(id: $a) }',
  'query ($a: Int = 5, $b: Boolean) { list(first: $a, flag: $b) }',
  'query ($__proto__: Int) { list(first: $__proto__) }',
  '{ list(where: {status: PRESENT, marks: 4}, ids: "one") }',
].map((text) => toPlanned(parse(text)));

const SENT = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, 'PRESENT', 'text', '7', 0, 7, 1.5, -1e12),
  fc.constantFrom<unknown>([], ['a'], [1, null], [[1], null], ['a', 2], {}, { needed: 2 }),
  fc.constantFrom<unknown>({ name: { equals: 'x' } }, { name: 'x' }, { needed: null }, { unknown: 1 }),
  fc.constantFrom<unknown>([{ needed: 1 }, { status: 'ABSENT' }], { and: [{ name: { in: 'a' } }] }),
);
const VARIABLES = fc.record({ a: SENT, b: SENT, c: SENT, ['__proto__']: SENT }, { requiredKeys: [] });

/** A document with its plans, which all runs share. */
function toPlanned(document: DocumentNode) {
  const operation = operationOf(document);
  const variables = new PlannedVariables(SCHEMA, operation);
  return { document, operation, variables, arguments: new PlannedArguments() };
}

function operationOf(document: DocumentNode): OperationDefinitionNode {
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
  return operation;
}

function fieldsOf(operation: OperationDefinitionNode): readonly FieldNode[] {
  return operation.selectionSet.selections.filter((one) => one.kind === Kind.FIELD);
}

/** What was made, or the errors that were found, as it leaves. */
function outcomeOf(make: () => unknown): unknown {
  try {
    return { made: make() };
  } catch (error) {
    return { thrown: String(error) };
  }
}

function errorsOf({ errors }: ReturnType<typeof getVariableValues>): readonly string[] | undefined {
  return errors?.map((error) => JSON.stringify(error));
}

function expectSameValues(schema: GraphQLSchema, inputs: Readonly<Record<string, unknown>>): number {
  let compared = 0;
  for (const { operation, variables: plannedVariables, arguments: plannedArguments } of DOCUMENTS) {
    const definitions = operation.variableDefinitions ?? [];
    const expected = getVariableValues(schema, definitions, inputs, { maxErrors: 50 });
    const planned = plannedVariables.coerce(inputs);
    expect(planned.coerced).toStrictEqual(expected.coerced);
    expect(errorsOf(planned)).toStrictEqual(errorsOf(expected));
    if (!expected.coerced) continue;
    const variables = expected.coerced;
    for (const node of fieldsOf(operation)) {
      const definition = schema.getQueryType()?.getFields()[node.name.value];
      if (!definition) throw new Error(`no field ${node.name.value}`);
      expect(outcomeOf(() => plannedArguments.valuesOf(definition, node, variables))).toStrictEqual(
        outcomeOf(() => getArgumentValues(definition, node, variables)),
      );
      compared += 1;
    }
  }
  return compared;
}

test('the documents are valid', () => {
  for (const { document } of DOCUMENTS) expect(validate(SCHEMA, document)).toEqual([]);
});

test('planned variables and arguments are those of graphql-js', () => {
  const runs = runsOf(600);
  let compared = 0;
  fc.assert(
    fc.property(VARIABLES, (inputs) => {
      compared += expectSameValues(SCHEMA, inputs);
    }),
    runs,
  );
  // Most of what is generated is refused as variables, where nothing is left to compare.
  expect(compared).toBeGreaterThan(2.5 * runs.numRuns);
});

test('a variable that was made without a value is the fault of its argument', () => {
  const operation = operationOf(parse('query ($a: Int) { list(first: $a) }'));
  const definition = SCHEMA.getQueryType()?.getFields().list;
  const [node] = fieldsOf(operation);
  if (!definition || !node) throw new Error('no field');
  expect(() => new PlannedArguments().valuesOf(definition, node, { a: undefined })).toThrow(
    'Argument "first" has invalid value $a.',
  );
});
