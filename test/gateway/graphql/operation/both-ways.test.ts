/**
 * A record that PostgreSQL prints has the same bytes as one that graphql-js completes: generated selections
 * with aliases, fragments, `@skip`, `@include`, repeated fields and nested pages are read by a query, and
 * from the answer to an update that changes nothing.
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
import { ask, send } from '../../../contract/graphql.js';
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

/** A record as the field of a query, and as that of an update without changes. */
interface Root {
  readonly type: GraphQLObjectType;
  readonly read: string;
  readonly written: string;
}

beforeAll(async () => {
  schema = buildClientSchema(await ask(gateway, getIntrospectionQuery()));
  const queries = schema.getQueryType()?.getFields() ?? {};
  const mutations = schema.getMutationType()?.getFields() ?? {};
  const candidates = Object.values(queries).flatMap(({ name, type }) => {
    const record = schema.getType(String(type).replace(/Connection!?$/, ''));
    const isList = /Connection!?$/.test(String(type)) && mutations[`update${record?.name}`] !== undefined;
    return isList && isObjectType(record) && name !== 'records' ? [{ list: name, type: record }] : [];
  });
  const found = await ask(
    gateway,
    `{ ${candidates.map(({ list }) => `${list}(last: 1) { nodes { id } }`).join(' ')} }`,
  );
  const records = candidates.flatMap(({ list, type }): readonly Root[] => {
    const [node] = found[list].nodes;
    const one = Object.values(queries).find((field) => String(field.type) === type.name);
    if (!node || !one) return [];
    const id = `id: "${node.id}"`;
    return [{ type, read: `${one.name}(${id})`, written: `update${type.name}(${id}, data: {})` }];
  });
  const generic = `collection: "task", id: "${found.tasks.nodes[0].id}"`;
  const all: readonly Root[] = [
    ...records,
    {
      type: schema.getType('Record') as GraphQLObjectType,
      read: `record(${generic})`,
      written: `updateRecord(${generic}, data: {})`,
    },
  ];
  const answers = await Promise.all(
    all.map(({ written }) => send(gateway, { query: `mutation { ${written} { id } }`, as: 'admin' })),
  );
  // Nobody changes receipts.
  roots = all.filter((_, index) => answers[index]?.errors.length === 0);
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

const VARIABLES = [
  ['$yes', 'Boolean = true'],
  ['$no', 'Boolean = false'],
] as const;

/** The operation as a query, and as a mutation. */
function writeOperation(numbers: readonly number[]): readonly [string, string] {
  const written: Written = { choices: new Choices(numbers), fragments: [], depth: 0 };
  const { choices } = written;
  const parts = Array.from({ length: 1 + choices.below(2) }, (_, index) => {
    const root = choices.of(roots);
    const alias = `${choices.of(['a', 'b', 'c'])}${index}: `;
    const rest = `${choices.of(DIRECTIVES)} { ${writeMembers(root.type.name, written)} }`;
    return [alias + root.read + rest, alias + root.written + rest] as const;
  });
  const fragments = written.fragments.join('\n');
  const of = (kind: string, texts: readonly string[]) => {
    const text = `{ ${texts.join(' ')} }\n${fragments}`;
    const variables = VARIABLES.filter(([name]) => text.includes(name)).map(
      ([name, type]) => `${name}: ${type}`,
    );
    return `${kind}${variables.length === 0 ? '' : `(${variables.join(', ')})`} ${text}`;
  };
  return [
    of(
      'query',
      parts.map(([read]) => read),
    ),
    of(
      'mutation',
      parts.map(([, one]) => one),
    ),
  ];
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

/** The bytes of an answer, without what differs by request. The errors are in any order. */
async function answerTo(query: string): Promise<string> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    as: 'admin',
  });
  const text = (await response.text()).replaceAll(/"requestId":"[^"]*"|"locations":\[[^\]]*\]/g, '"":""');
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

describe('a generated selection', () => {
  it('has the same bytes whether PostgreSQL prints it or graphql-js executes it', async () => {
    expect(roots.length).toBeGreaterThan(5);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1_000_000), { minLength: 4, maxLength: 80 }), async (numbers) => {
        const [query, mutation] = writeOperation(numbers);
        const answer = await answerTo(query);
        expect({ query, answer }).toEqual({ query, answer: await answerTo(mutation) });
        JSON.parse(answer);
      }),
      runsOf(1_500),
    );
  });
});
