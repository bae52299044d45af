/** The schema as each caller is shown it: what may be used, and nothing else. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  buildClientSchema,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type OperationTypeNode,
} from 'graphql';
import { type Caller, COLLECTIONS, graphqlNames, promiseOf, type Verb } from '../campaign/rights/promise.js';
import { IS_FULL_LENGTH } from '../full-length.js';
import { type Role, useGateway } from './gateway.js';
import { ask, send } from './graphql.js';
import { connect } from './live.js';

const gateway = useGateway();

const INTROSPECTION = getIntrospectionQuery();
const OTHER_ROLES = ['accountant', 'teacher', 'clerk', 'viewer'] as const;

/** Callers by their names, with their header. */
const callers = new Map<string, Caller>();
const shown = new Map<string, GraphQLSchema>();
const texts = new Map<string, string>();

beforeAll(async () => {
  const user = (role: Role, bearer: string, rest: Partial<Caller> = {}): Caller => ({
    ...{ name: role, roles: [role], userId: `usr-${role}`, domain: 'top', attributes: {} },
    ...{ headers: { authorization: `Bearer ${bearer}` }, ...rest },
  });
  for (const role of ['admin', ...OTHER_ROLES] as const) callers.set(role, user(role, gateway.tokenOf(role)));
  const keys: readonly (readonly [name: string, role: Role, collections: Record<string, Verb[]>])[] = [
    ['key of tasks', 'clerk', { task: ['read', 'create'] }],
    ['key without records', 'admin', {}],
  ];
  for (const [name, role, collections] of keys) {
    const reports = collections.task ? [] : ['strength'];
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "narrow", scopes: $s}) { key } }',
      { as: role, variables: { s: { collections, reports, scripts: [] } } },
    );
    callers.set(name, user(role, createApiKey.key, { collections, reports }));
  }
  for (const [name, { headers }] of callers) {
    const { data, errors } = await send(gateway, { query: INTROSPECTION, headers });
    expect(errors).toEqual([]);
    texts.set(name, JSON.stringify(data));
    shown.set(name, buildClientSchema(data));
  }
});

function schemaOf(name: string): GraphQLSchema {
  const schema = shown.get(name);
  if (!schema) throw new Error(`no schema of ${name}`);
  return schema;
}

type Kind = 'query' | 'mutation' | 'subscription';

function rootsOf(schema: GraphQLSchema, kind: Kind): readonly GraphQLField<unknown, unknown>[] {
  return Object.values(schema.getRootType(kind as OperationTypeNode)?.getFields() ?? {});
}

/** A value that fits the type, though hardly what it names. */
function literalOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literalOf(type.ofType);
  if (isListType(type)) return `[${literalOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const needed = Object.values(type.getFields()).filter((one) => isNonNullType(one.type));
    return `{${needed.map((one) => `${one.name}: ${literalOf(one.type)}`).join()}}`;
  }
  const literals: Record<string, string> = {
    ...{ Int: '1', Float: '1', Boolean: 'false', JSON: '{}', Decimal: '"1"' },
    ...{ LocalDate: '"2026-07-01"', Month: '"2026-07"', DateTime: '"2026-07-01T00:00:00Z"' },
  };
  return literals[type.name] ?? '"unknown"';
}

/** Arguments that are looked at before the rights are, or on which the rights depend. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  createApiKey: 'data: {name: "x", scopes: {}}',
  createFile: 'data: {name: "a.txt", content: "", collection: "saved_view", recordId: "unknown"}',
  promoteStudents: 'promotion: {fromSession: "2026-27", classes: [{class: "unknown", leaves: true}]}',
  recordAt: 'collection: "task", id: "unknown", version: 1',
  sendSms: 'data: {to: ["+919812345678"], text: "x"}',
  teacherAttendance: 'userId: "usr-teacher"',
};

/** Calls of a root field: of one on any collection, a call for each. */
function callsOf(field: GraphQLField<unknown, unknown>, kind: Kind): readonly string[] {
  const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
  const given = ARGUMENTS[field.name];
  if (given) return [`${kind} { ${field.name}(${given})${selection} }`];
  const named = field.args.some(({ name }) => name === 'collection');
  return (named ? COLLECTIONS : [undefined]).map((collection) => {
    const args = field.args.flatMap(({ name, type }) => {
      if (name === 'collection') return [`collection: "${collection?.name}"`];
      // A write of many is to match nothing, and a report a real one.
      if (name === 'oquery' && kind === 'mutation') return ['oquery: "_id=unknown"'];
      if (name === 'report') return ['report: "strength"'];
      return isNonNullType(type) ? [`${name}: ${literalOf(type)}`] : [];
    });
    return `${kind} { ${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${selection} }`;
  });
}

/** These end the session of the caller. */
const ENDING = ['logout', 'endSessions'];
/** Open without a credential, or about what is there once. */
const OF_IMPORTS = ['changeImport', 'tryImport', 'runImport', 'undoImport'];

async function isRefused(name: string, field: GraphQLField<unknown, unknown>, kind: Kind): Promise<boolean> {
  const { headers } = callers.get(name) as Caller;
  for (const query of callsOf(field, kind)) {
    const { errors } = await send(gateway, { query, headers });
    const [error] = errors;
    const isOther = OF_IMPORTS.includes(field.name) && error?.extensions.code === 'NOT_FOUND';
    if (error?.extensions.code === 'GRAPHQL_VALIDATION_FAILED') throw new Error(`${query}: ${error.message}`);
    if (error?.extensions.code !== 'FORBIDDEN' && !isOther) return false;
  }
  return true;
}

/** Every field is called by some caller; at full length, by all. */
const CALLS_ARE_ONE_OF = 6;

const LIMITED = [...OTHER_ROLES, 'key of tasks', 'key without records'];

describe.each(LIMITED)('%s', (name) => {
  it.each(['query', 'mutation'] as const)(
    'is shown each root %s that it may call, and no other',
    async (kind) => {
      const own = new Set(rootsOf(schemaOf(name), kind).map((field) => field.name));
      const faults: string[] = [];
      for (const [index, field] of rootsOf(schemaOf('admin'), kind).entries()) {
        const isChosen = IS_FULL_LENGTH || (index + LIMITED.indexOf(name)) % CALLS_ARE_ONE_OF === 0;
        if (!isChosen || ENDING.includes(field.name)) continue;
        const ownField = rootsOf(schemaOf(name), kind).find((one) => one.name === field.name);
        const refused = await isRefused(name, ownField ?? field, kind);
        if (refused === own.has(field.name))
          faults.push(`${field.name} is ${refused ? 'refused' : 'hidden'}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it('is shown the subscriptions that it may have, and no other', async () => {
    const own = new Set(rootsOf(schemaOf(name), 'subscription').map((field) => field.name));
    const { authorization } = callers.get(name)?.headers ?? {};
    const subscriber = connect(gateway, { params: { Authorization: authorization } });
    try {
      const faults: string[] = [];
      for (const field of rootsOf(schemaOf('admin'), 'subscription')) {
        const attempts = callsOf(field, 'subscription').map((query) => subscriber.attempt(query));
        const isRefusedNow = () => attempts.every(({ errors }) => errors[0]?.extensions.code === 'FORBIDDEN');
        // One that is refused is so at once.
        for (let tries = own.has(field.name) ? 4 : 100; tries > 0 && !isRefusedNow(); tries -= 1)
          await sleep(20);
        const refused = isRefusedNow();
        for (const one of attempts) one.stop();
        // This topic is for admins alone, and each import is somebody's.
        if (['topic', 'importChanged'].includes(field.name)) continue;
        if (refused === own.has(field.name))
          faults.push(`${field.name} is ${refused ? 'refused' : 'hidden'}`);
      }
      expect(faults).toEqual([]);
    } finally {
      subscriber.dispose();
    }
  });

  it('is told no name of a collection, field or type that it may not know', () => {
    const caller = callers.get(name) as Caller;
    const names = new Set([...(texts.get(name) ?? '').matchAll(/"name":"(\w+)"/g)].map(([, found]) => found));
    const schema = schemaOf(name);
    for (const collection of COLLECTIONS) {
      const verbs = (['read', 'create', 'update', 'delete'] as const).filter(
        (verb) => typeof promiseOf(caller, collection, verb) === 'object',
      );
      const { one, many } = graphqlNames(collection);
      const typeName = one.charAt(0).toUpperCase() + one.slice(1);
      const promised = promiseOf(caller, collection, 'read');
      expect([collection.name, names.has(typeName)]).toEqual([collection.name, verbs.length > 0]);
      const isRoot = rootsOf(schema, 'query').some((field) => field.name === many);
      expect([collection.name, names.has(`${typeName}Connection`), isRoot]).toEqual([
        collection.name,
        typeof promised === 'object',
        typeof promised === 'object',
      ]);
      if (typeof promised !== 'object') continue;
      for (const hidden of promised.hiddenFields) {
        const camel = hidden.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
        for (const typed of [typeName, `${typeName}WhereInput`]) {
          const type = schema.getType(typed);
          const fields = type && 'getFields' in type ? Object.keys(type.getFields()) : [];
          expect([typed, camel, fields.includes(camel)]).toEqual([typed, camel, false]);
        }
        const upper = hidden.toUpperCase();
        const sorted = schema.getType(`${typeName}SortField`);
        expect(isEnumType(sorted) && sorted.getValue(upper)).toBeFalsy();
      }
    }
  });
});

describe('a name that is hidden', () => {
  const by = (as: Role, query: string, variables: object = {}) => send(gateway, { as, query, variables });
  const messagesOf = async (as: Role, query: string, variables: object = {}) =>
    (await by(as, query, variables)).errors.map(({ message }) => message);

  it('is suggested to nobody else, in a document or in variables', async () => {
    const documents: readonly (readonly [query: string, suggested: string, variables?: object])[] = [
      ['{ feeReceiptz { nodes { id } } }', 'feeReceipts'],
      ['query ($w: FeeReceiptWhereInputt) { me { id } }', 'FeeReceiptWhereInput'],
      ['{ feeReceipts(wher: {}) { totalCount } }', 'where'],
      ['{ feeReceipts { nodes { receiptNoo } } }', 'receiptNo'],
      [
        'query ($w: FeeReceiptWhereInput) { feeReceipts(where: $w) { totalCount } }',
        'receiptNo',
        { w: { receiptNoo: {} } },
      ],
      ['mutation { setUserActiv(userId: 1) { id } }', 'setUserActive'],
    ];
    for (const [query, suggested, variables] of documents) {
      const [admin] = await messagesOf('admin', query, variables);
      expect(admin).toMatch(new RegExp(`Did you mean .*"${suggested}"`));
      const viewer = await messagesOf('viewer', query, variables);
      expect(viewer.join()).toMatch(/Cannot query|Unknown|not defined/);
      expect(viewer.join()).not.toContain(`"${suggested}"`);
    }
    const [own] = await messagesOf('viewer', '{ task { nodes { nam } } tasks { nodes { nam } } }');
    expect(own).toBeDefined();
    expect(await messagesOf('viewer', '{ tasks { nodes { nam } } }')).toEqual([
      expect.stringContaining('Did you mean "name"'),
    ]);
  });

  it('is suggested to no subscriber either', async () => {
    const subscriber = connect(gateway, { as: 'viewer' });
    try {
      const messageOf = async (query: string) => {
        const refused = subscriber.attempt(query);
        for (let tries = 200; tries > 0 && refused.errors.length === 0; tries -= 1) await sleep(20);
        return refused.errors[0]?.message;
      };
      const refused = await messageOf('subscription { feeReceiptChangd { id } }');
      expect(refused).toMatch(/^Cannot query field/);
      expect(refused).not.toContain('"feeReceiptChanged"');
      expect(await messageOf('subscription { taskChangd { id } }')).toContain('"taskChanged"');
      expect(await messageOf('subscription { reportChanged(report: "strenth") { report } }')).toBeDefined();
    } finally {
      subscriber.dispose();
    }
  });

  it('is refused or answered as it was, where it is asked for all the same', async () => {
    const viewer = await by('viewer', '{ feeReceipts { totalCount } }');
    expect(viewer.errors.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  });

  it('is null for `__type`, also beside other fields and in fragments', async () => {
    const query = `query Both($name: String!, $first: Int, $w: FeeReceiptWhereInput) {
      hidden: __type(name: $name) { name }
      ...Shown
      tasks(first: $first) { pageInfo { hasPreviousPage } }
      feeReceipts(where: $w) { totalCount }
    }
    fragment Shown on Query { shown: __type(name: "Task") { ...Type } __typename }
    fragment Type on __Type { name kind }`;
    const variables = { name: 'FeeReceipt', first: 1, w: {} };
    const admin = await by('admin', query, variables);
    expect(Object.keys(admin.data)).toEqual(['hidden', 'shown', '__typename', 'tasks', 'feeReceipts']);
    expect(admin.data).toMatchObject({ hidden: { name: 'FeeReceipt' }, feeReceipts: { totalCount: 0 } });
    const viewer = await by('viewer', query, variables);
    expect(viewer.data).toEqual({
      hidden: null,
      shown: { name: 'Task', kind: 'OBJECT' },
      __typename: 'Query',
      tasks: { pageInfo: { hasPreviousPage: false } },
      feeReceipts: null,
    });
    expect(viewer.errors.map(({ path }) => path)).toEqual([['feeReceipts']]);
  });

  it('is in no resource of agents', async () => {
    const read = async (as: Role, uri: string) => {
      const answer = await gateway.fetch('/mcp', {
        method: 'POST',
        as,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }),
      });
      return await answer.text();
    };
    for (const uri of ['campus://schema', 'campus://schema/FeeReceipt', 'campus://schema/Query']) {
      expect([uri, await read('admin', uri)]).toEqual([uri, expect.stringContaining('FeeReceipt')]);
      expect([uri, await read('viewer', uri)]).toEqual([uri, expect.not.stringMatching(/FeeReceipt\b/)]);
    }
  });

  it('is shown as soon as the rights reach it', async () => {
    const text = async () => JSON.stringify((await by('viewer', INTROSPECTION)).data);
    expect(await text()).not.toContain('"visits"');
    const definition = {
      name: 'visit',
      fields: [{ name: 'visitor', type: 'text' }],
      access: { viewer: { verbs: ['read'] } },
    };
    await ask(gateway, 'mutation ($d: JSON!) { registerCollection(definition: $d) { name } }', {
      variables: { d: definition },
    });
    const told = await text();
    expect(told).toContain('"visits"');
    expect(told).not.toContain('"createVisit"');
  });
});
