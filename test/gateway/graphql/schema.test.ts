import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import {
  buildSchema,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  printSchema,
  validateSchema,
} from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { printGatewaySchema, UNUSED_SERVICES } from '../../../src/gateway/graphql/print-schema.js';
import { buildGatewaySchema } from '../../../src/gateway/graphql/schema.js';
import { parseCollection, readDefinitions } from '../../../src/store/catalog/parse-collection.js';

const DECLARATIONS = fileURLToPath(new URL('../../../schema/collections', import.meta.url));
const PRINTED = fileURLToPath(new URL('../../../schema/schema.graphql', import.meta.url));

describe('schema/schema.graphql', () => {
  it('is what the code prints (npm run print brings it up to date)', async () => {
    expect(await readFile(PRINTED, 'utf8')).toBe(await printGatewaySchema(DECLARATIONS));
  });

  it('describes every type, field, argument and value', async () => {
    const schema = buildSchema(await printGatewaySchema(DECLARATIONS));
    expect(undescribed(schema)).toEqual([]);
  });

  it('names no place of a directive that older clients cannot read', async () => {
    const { schema } = buildGatewaySchema({ collections: [], reports: [], ...UNUSED_SERVICES });
    const places = schema
      .getDirectives()
      .flatMap(({ name, locations }) => locations.map((one) => [name, one]));
    expect(places).toContainEqual(['deprecated', 'FIELD_DEFINITION']);
    expect(places.filter(([, place]) => place === 'DIRECTIVE_DEFINITION')).toEqual([]);
  });

  it('lets every root field fail alone', async () => {
    const schema = buildSchema(await printGatewaySchema(DECLARATIONS));
    const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const fields = types.flatMap((type) => Object.values(type?.getFields() ?? {}));
    expect(fields.length).toBeGreaterThan(300);
    expect(fields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([]);
  });

  it('shows an example of every declared field, and the unit of every amount', async () => {
    const definitions = await readDefinitions(DECLARATIONS);
    const missing = definitions.flatMap((definition) => {
      const { name, fields } = parseCollection(definition, {
        source: definition.name,
        isDeclared: true,
        version: 1,
      });
      return fields.flatMap((field) => {
        if (field.type !== 'object' && field.example === undefined)
          return [`example of ${name}.${field.name}`];
        return field.isDecimal && field.unit === undefined ? [`unit of ${name}.${field.name}`] : [];
      });
    });
    expect(missing).toEqual([]);
  });

  it('says of all that is deprecated what to use', async () => {
    const text = await printGatewaySchema(DECLARATIONS);
    const reasons = [...text.matchAll(/@deprecated(?:\(reason: "([^"]*)"\))?/g)].map(
      ([, reason]) => reason ?? '',
    );
    expect(reasons.filter((reason) => !/\buse\b/i.test(reason))).toEqual([]);
  });
});

describe('a schema over the catalog', () => {
  it('leaves nothing behind, however often it is built', () => {
    schemaOf({ name: 'visit', fields: [{ name: 'on', type: 'datetime' }] });
    const before = sizes();
    for (let time = 0; time < 5; time += 1)
      schemaOf({ name: 'visit', fields: [{ name: 'on', type: 'datetime' }] });
    expect(sizes()).toEqual(before);
  });

  it('names a collection apart whose name is taken', () => {
    const fields = [{ name: 'query', type: 'text' }];
    const schema = schemaOf(
      { name: 'me', fields },
      { name: 'record', fields },
      { name: 'login', fields },
      { name: 'query', plural: 'queries', fields },
    );
    expect(queriesOf(schema)).toEqual(
      expect.arrayContaining(['me', 'record', 'records', 'recordRecord', 'queryRecord', 'loginRecord']),
    );
    expect(schema.getType('RecordRecord')).toBeDefined();
  });

  it('leaves a declared collection its names, whatever is registered beside it', () => {
    const fields = [{ name: 'name', type: 'text' }];
    const collections = [
      parseCollection(
        { name: 'apple', singular: 'createTask', plural: 'tasksAggregate', fields },
        { source: 'apple', isDeclared: false, version: 1 },
      ),
      parseCollection({ name: 'task', fields }, { source: 'task', isDeclared: true, version: 1 }),
    ];
    const { schema } = buildGatewaySchema({ collections, reports: [], ...UNUSED_SERVICES });
    expect(queriesOf(schema)).toEqual(expect.arrayContaining(['task', 'tasks', 'tasksAggregate']));
    expect(Object.keys(schema.getMutationType()?.getFields() ?? {})).toContain('createTask');
  });

  it.each([
    ['no fields', { name: 'free' }],
    ['an object of any form', { name: 'free', fields: [{ name: 'o', type: 'object' }] }],
    ['nothing to sort by', { name: 'free', fields: [{ name: 'l', type: 'text', list: true }] }],
    ...['where', 'order_by', 'having', 'group_order_by', 'connection', 'sort_field'].map(
      (name) =>
        [
          `an object called ${name}`,
          { name: 'free', fields: [{ name, type: 'object', fields: [{ name: 'a', type: 'text' }] }] },
        ] as const,
    ),
  ])('is valid with a collection of %s', (_, definition) => {
    const pointing = { name: 'y', fields: [{ name: 'r', type: 'reference', target: 'free' }] };
    expect(validateSchema(schemaOf(definition, pointing))).toEqual([]);
  });

  it('has no typed fields for a collection that declares none: the generic ones reach it', () => {
    expect(queriesOf(schemaOf({ name: 'free' }))).not.toContain('free');
  });

  it('names fields and values apart that GraphQL cannot tell', () => {
    const schema = schemaOf({
      name: 'odd',
      fields: [
        { name: 'created_at', type: 'text' },
        { name: 'a_b', type: 'text' },
        { name: 'a-b', type: 'number' },
        { name: 'not', type: 'boolean' },
        { name: 'kind', type: 'text', enum: ['a b', 'A-B', 'null', '%'] },
        { name: '学校', type: 'text' },
      ].filter((field) => /^[\x20-\x7e]+$/.test(field.name)),
    });
    const type = schema.getType('Odd');
    const names = isObjectType(type) ? Object.keys(type.getFields()) : [];
    expect(names).toEqual([
      'nodeId',
      'id',
      'createdAt_2',
      'aB',
      'aB_2',
      'not_2',
      'kind',
      'version',
      'createdAt',
      'updatedAt',
    ]);
    const kind = schema.getType('OddKind');
    expect(isEnumType(kind) && kind.getValues().map((value) => [value.name, value.value])).toEqual([
      ['A_B', 'a b'],
      ['A_B_2', 'A-B'],
      ['NULL_', 'null'],
      ['X', '%'],
    ]);
  });

  it('marks what is deprecated, in the type and in optional inputs', () => {
    const schema = schemaOf({
      name: 'old',
      fields: [{ name: 'fax', type: 'text', deprecated: 'Use email.' }],
    });
    expect(printSchema(schema)).toContain('fax: String @deprecated(reason: "Use email.")');
  });

  it('stays valid with references in circles and to nothing', () => {
    const schema = schemaOf(
      { name: 'hen', fields: [{ name: 'egg', type: 'reference', target: 'egg' }] },
      {
        name: 'egg',
        fields: [
          { name: 'hen', type: 'reference', target: ['hen', 'egg', 'gone'] },
          { name: 'x', type: 'reference', target: 'gone' },
        ],
      },
    );
    const text = printSchema(schema);
    expect(text).toContain('union HenOrEgg = Hen | Egg');
    expect(() => buildSchema(text)).not.toThrow();
  });
});

function schemaOf(
  ...definitions: readonly { readonly name: string; readonly [key: string]: unknown }[]
): GraphQLSchema {
  return buildGatewaySchema({
    collections: definitions.map((definition) =>
      parseCollection(definition, { source: definition.name, isDeclared: false, version: 1 }),
    ),
    reports: [],
    ...UNUSED_SERVICES,
  }).schema;
}

function queriesOf(schema: GraphQLSchema): readonly string[] {
  return Object.keys(schema.getQueryType()?.getFields() ?? {});
}

function sizes(): Record<string, number> {
  return Object.fromEntries(
    Object.entries(getMetadataStorage())
      .filter(([, value]) => Array.isArray(value))
      .map(([name, value]) => [name, (value as unknown[]).length]),
  );
}

function undescribed(schema: GraphQLSchema): readonly string[] {
  const found: string[] = [];
  const note = (place: string, described: { readonly description?: string | null | undefined }) => {
    if (!described.description) found.push(place);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || ['Query', 'Mutation', 'Subscription'].includes(type.name)) continue;
    note(type.name, type);
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isEnumType(type)) for (const value of type.getValues()) note(`${type.name}.${value.name}`, value);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      note(`${type.name}.${field.name}`, field);
      if ('args' in field) for (const arg of field.args) note(`${type.name}.${field.name}(${arg.name})`, arg);
    }
  }
  return found;
}
