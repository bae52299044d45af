/**
 * An operation that prints itself answers the same bytes as graphql-js: generated operations with aliases,
 * fragments, `@skip`, `@include`, repeated fields and empty pages are executed both ways.
 */
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import {
  buildClientSchema,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { useDemoGateway } from '../../../contract/demo-gateway.js';
import { ask } from '../../../contract/graphql.js';
import { runsOf } from '../../../full-length.js';

jest.setTimeout(600_000);

const gateway = useDemoGateway(
  { students: 60 },
  {
    GRAPHQL_MAX_COST: '100000000',
    GRAPHQL_MAX_DEPTH: '100',
    GRAPHQL_MAX_ROOT_FIELDS: '1000',
    RATE_LIMIT_PER_MINUTE: '1000000',
  },
);

let schema: GraphQLSchema;
let roots: readonly Root[];

/** A root field with its arguments. */
interface Root {
  readonly name: string;
  readonly argumentChoices: readonly string[];
}

const PAGES = ['', '(first: 0)', '(first: 1)', '(first: 2)', '(last: 1)', '(last: 2)'];

/** Root fields that fail, at the arguments, when the query is made, and when it runs. */
const FAILING: readonly Root[] = [
  {
    name: 'tasks',
    argumentChoices: ['(first: 100000)', '(first: -1)', '(after: "garbage")', '(oquery: "amount")'],
  },
  { name: 'task', argumentChoices: ['(id: "none")', '(id: "none")'] },
  { name: 'records', argumentChoices: ['(collection: "none")', '(collection: "task", where: {name: 5})'] },
  {
    name: 'record',
    argumentChoices: ['(collection: "task", id: "none")', '(collection: "none", id: "none")'],
  },
  { name: 'tasksAggregate', argumentChoices: ['(where: {name: {startsWith: ""}})', '(first: -1)'] },
];

beforeAll(async () => {
  schema = buildClientSchema(await ask(gateway, getIntrospectionQuery()));
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  const lists = fields.filter(
    ({ name, args, type }) =>
      /Connection!?$/.test(String(type)) &&
      schema.getType(`${String(type).replace(/Connection!?$/, '')}WhereInput`) !== undefined &&
      !args.some(isRequiredArgument) &&
      name !== 'records',
  );
  const found = await ask(
    gateway,
    `{ ${lists.map(({ name }) => `${name}(first: 1) { nodes { id nodeId } }`).join(' ')} }`,
  );
  const empty = ['(first: 2, where: {id: {equals: "none"}})', '(last: 1, where: {id: {equals: "none"}})'];
  const records = '(collection: "task", where: {}, first: 2)';
  const none = '(collection: "task", where: {_id: {equals: "none"}}, last: 1)';
  roots = [
    ...lists.map(({ name }) => ({ name, argumentChoices: [...PAGES, ...empty] })),
    ...lists.flatMap(({ name, type }) => {
      const record = fields.find((field) => String(field.type) === String(type).replace(/Connection!?$/, ''));
      const [node] = found[name].nodes;
      if (!node || !record) return [];
      return [{ name: record.name, argumentChoices: [`(id: "${node.id}")`] }];
    }),
    { name: 'records', argumentChoices: [records, none] },
    { name: 'record', argumentChoices: [`(collection: "task", id: "${found.tasks.nodes[0].id}")`] },
    {
      name: 'nodes',
      argumentChoices: [
        `(ids: ["${found.tasks.nodes[0].nodeId}", "task:none", "${found.tasks.nodes[0].nodeId}"])`,
      ],
    },
    { name: 'tasksAggregate', argumentChoices: [''] },
    {
      name: 'registrationsAggregate',
      argumentChoices: ['(groupBy: [CLASS])', '(where: {id: {equals: "none"}})'],
    },
  ];
});

/** Chooses among values; the choices come from fast-check, so that a failure shrinks to a small operation. */
class Choices {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** A number below `count`; 0 when all choices are used up, which ends the operation. */
  below(count: number): number {
    const number = this.#numbers[this.#next] ?? 0;
    this.#next += 1;
    return number % count;
  }

  of<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }
}

interface Written {
  readonly choices: Choices;
  readonly fragments: string[];
  depth: number;
}

const DIRECTIVES = [
  '',
  '',
  '',
  '',
  '',
  '',
  '',
  ' @skip(if: true)',
  ' @include(if: false)',
  ' @skip(if: $yes)',
  ' @include(if: $no)',
  ' @include(if: $yes)',
];

/** The end of the operation, before which a root field can be added. */
const END_OF_OPERATION = ' #\n}';

const VARIABLES = [
  ['$yes', 'Boolean = true'],
  ['$no', 'Boolean = false'],
] as const;

function writeOperation(numbers: readonly number[]): string {
  const written: Written = { choices: new Choices(numbers), fragments: [], depth: 0 };
  const { choices } = written;
  const parts = Array.from({ length: 1 + choices.below(3) }, (_, index) => {
    const { name, argumentChoices } = choices.of(choices.below(5) === 1 ? FAILING : roots);
    const field = schema.getQueryType()?.getFields()[name] as GraphQLField<unknown, unknown>;
    const alias = `${choices.of(['a', 'b', 'c'])}${index}: `;
    const start = `${alias}${name}${choices.of(argumentChoices)}${choices.of(DIRECTIVES)}`;
    return start + writeSelection(field, written);
  });
  if (choices.below(8) === 1) parts.push('__typename');
  const text = [`{ ${parts.join(' ')}${END_OF_OPERATION}`, ...written.fragments].join('\n');
  const variables = VARIABLES.filter(([name]) => text.includes(name)).map(
    ([name, type]) => `${name}: ${type}`,
  );
  return variables.length === 0 ? text : `query(${variables.join(', ')}) ${text}`;
}

function writeSelection({ type }: GraphQLField<unknown, unknown>, written: Written): string {
  const named = getNamedType(type);
  if (!isCompositeType(named)) return '';
  return ` { ${writeMembers(named.name, written)} }`;
}

function writeMembers(typeName: string, written: Written): string {
  const { choices, fragments } = written;
  const type = schema.getType(typeName);
  if (isAbstractType(type)) {
    const members = schema.getPossibleTypes(type);
    const some = [choices.of(members), choices.of(members)];
    return [
      '__typename',
      ...some.map((one) => `... on ${one.name} { ${writeMembers(one.name, written)} }`),
    ].join(' ');
  }
  if (!isObjectType(type)) throw new Error(`${typeName} has no fields`);
  written.depth += 1;
  const usable = usableFields(type, written.depth);
  const parts = Array.from({ length: 1 + choices.below(4) }, () => {
    const kind = choices.below(10);
    if (kind === 1 || usable.length === 0) return `__typename${choices.of(DIRECTIVES)}`;
    const field = choices.of(usable);
    const name = `${field.name}${argumentsOf(field, choices)}`;
    const directive = choices.of(DIRECTIVES);
    // An alias of the type of the field cannot conflict with another field's.
    const key = choices.below(3) === 1 ? `${field.name}_${choices.below(2)}: ` : '';
    const own = name.includes('(') ? `${field.name}_${choices.below(1e6)}: ` : key;
    const member = `${own}${name}${directive}${writeSelection(field, written)}`;
    if (kind === 2) return `... { ${member} }`;
    if (kind === 3) return `... on ${type.name}${choices.of(DIRECTIVES)} { ${member} }`;
    if (kind !== 4) return member;
    fragments.push(`fragment F${fragments.length} on ${type.name} { ${member} }`);
    return `...F${fragments.length - 1}${choices.of(DIRECTIVES)}`;
  });
  written.depth -= 1;
  return parts.join(' ');
}

const DEEPEST = 5;

function usableFields(type: GraphQLObjectType, depth: number): readonly GraphQLField<unknown, unknown>[] {
  return Object.values(type.getFields()).filter(
    ({ args, type: of }) =>
      !args.some(isRequiredArgument) && (depth < DEEPEST || isLeafType(getNamedType(of))),
  );
}

function argumentsOf({ args }: GraphQLField<unknown, unknown>, choices: Choices): string {
  if (!args.some(({ name }) => name === 'first')) return '';
  return choices.of([
    '(first: 1)',
    '(first: 1)',
    '(first: 0)',
    '(first: 0)',
    '(last: 1)',
    '(last: 1)',
    '(first: 100000)',
  ]);
}

/** The bytes of an answer, without what differs by request. graphql-js lists errors as they come. */
async function answerTo(query: string): Promise<string> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    as: 'admin',
  });
  const text = (await response.text()).replaceAll(/"requestId":"[^"]*"/g, '"requestId":""');
  return text.replace(/"errors":(\[\{.*\}\]),"data"/, (whole, errors) => {
    const keyOf = ({ path: [key = ''] }: Failed) => key;
    const sorted = JSON.parse(errors).sort((one: Failed, other: Failed) =>
      keyOf(one) < keyOf(other) ? -1 : 1,
    );
    return whole.replace(errors, () => JSON.stringify(sorted));
  });
}

interface Failed {
  readonly path: readonly string[];
}

/** The same operation by graphql-js, which a root field that does not print itself makes necessary. */
async function plainAnswerTo(query: string): Promise<string> {
  const answer = await answerTo(query.replace(END_OF_OPERATION, ' plainly: me { id }\n}'));
  return answer.replace(/,?"plainly":\{"id":"[^"]*"\}/, '');
}

describe('a generated operation', () => {
  it('answers the same bytes whether it prints itself or graphql-js executes it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1_000_000), { minLength: 4, maxLength: 80 }), async (numbers) => {
        const query = writeOperation(numbers);
        const answer = await answerTo(query);
        expect({ query, answer }).toEqual({ query, answer: await plainAnswerTo(query) });
        JSON.parse(answer);
      }),
      runsOf(1_500),
    );
  });
});
