import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';
import { send } from './graphql.js';

/** What a caller may not see is not named to it either: no field, no type, no collection. */
const gateway = useGateway();

const LEDGER = {
  name: 'ledgerbook',
  labelField: 'codeword',
  fields: [
    { name: 'codeword', type: 'text' },
    { name: 'balance', type: 'number' },
    { name: 'shelf', type: 'text', enum: ['upper', 'lower'] },
    { name: 'keeper', type: 'reference', target: 'vaultroom' },
  ],
  access: {
    viewer: { verbs: ['read'], hiddenFields: ['codeword', 'balance', 'shelf'] },
    teacher: { verbs: ['create'], readOnlyFields: ['balance'] },
  },
};
const VAULT = { name: 'vaultroom', fields: [{ name: 'combination', type: 'text' }], access: {} };

beforeAll(async () => {
  for (const definition of [VAULT, LEDGER]) {
    const { errors } = await send(gateway, {
      as: 'admin',
      query: 'mutation($d: JSON!) { registerCollection(definition: $d) { name } }',
      variables: { d: definition },
    });
    expect(errors).toEqual([]);
  }
});

async function ask(as: Role, query: string, variables: object = {}) {
  const { data, errors } = await send(gateway, { as, query, variables });
  return { data, codes: errors.map(({ extensions }) => extensions.code), text: JSON.stringify(errors) };
}

describe('collection(name)', () => {
  const query = '{ collection(name: "ledgerbook") { labelField fields { name targets } } }';

  it('tells of the fields that are read or set, and of references into reach', async () => {
    expect((await ask('admin', query)).data).toEqual({
      collection: {
        labelField: 'codeword',
        fields: [
          { name: 'codeword', targets: [] },
          { name: 'balance', targets: [] },
          { name: 'shelf', targets: [] },
          { name: 'keeper', targets: ['vaultroom'] },
        ],
      },
    });
    expect((await ask('viewer', query)).data).toEqual({
      collection: { labelField: null, fields: [{ name: 'keeper', targets: [] }] },
    });
    expect((await ask('teacher', query)).data).toEqual({
      collection: {
        labelField: 'codeword',
        fields: ['codeword', 'shelf', 'keeper'].map((name) => ({ name, targets: [] })),
      },
    });
  });

  it('is refused to who may do nothing with its records', async () => {
    const { data, codes, text } = await ask(
      'viewer',
      '{ collection(name: "vaultroom") { fields { name } } }',
    );
    expect([data, codes]).toEqual([{ collection: null }, ['FORBIDDEN']]);
    expect(text).not.toMatch('combination');
  });
});

describe('a name that is nearly one', () => {
  const doors: readonly [door: string, query: string][] = [
    ['collection', '{ collection(name: "vaultrom") { name } }'],
    ['records', '{ records(collection: "vaultrom") { nodes { id } } }'],
    ['record', '{ record(collection: "vaultrom", id: "a") { id } }'],
    ['a create', 'mutation { createRecord(collection: "vaultrom", data: {}) { id } }'],
    [
      'a bulk update',
      'mutation { updateRecords(collection: "vaultrom", oquery: "a=b", set: {a: 1}) { count } }',
    ],
  ];
  it.each(doors)('is completed by %s for who may see it alone', async (_door, query) => {
    const admin = await ask('admin', query);
    expect([admin.codes, admin.text]).toEqual([['NOT_FOUND'], expect.stringContaining('vaultroom')]);
    const viewer = await ask('viewer', query);
    expect([viewer.codes, viewer.text]).toEqual([['NOT_FOUND'], expect.not.stringContaining('vaultroom')]);
  });

  it('is not completed by a path either', async () => {
    const response = await gateway.fetch('/o/recs/vaultrom?stream=true', { as: 'viewer' });
    expect([response.status, await response.text()]).toEqual([404, expect.not.stringContaining('vaultroom')]);
  });
});

describe('a where', () => {
  const where = (as: Role, condition: object, collection = 'ledgerbook') =>
    ask(as, 'query($c: String!, $w: JSON!) { records(collection: $c, where: $w) { nodes { id } } }', {
      c: collection,
      w: condition,
    });

  it('with an unknown field is told the fields its caller reads', async () => {
    expect((await where('admin', { codeword_: { equals: 1 } })).text).toMatch(
      'codeword, balance, shelf, keeper',
    );
    const viewer = await where('viewer', { codeword_: { equals: 1 } });
    expect([viewer.codes, viewer.text]).toEqual([
      ['MALFORMED_FILTER'],
      expect.stringContaining('(keeper, _id)'),
    ]);
    expect(viewer.text).not.toMatch(/"codeword"|balance|shelf/);
  });

  it('on a hidden field is refused before its operators are looked at', async () => {
    for (const condition of [
      { balance: { startsWith: 'a' } },
      { shelf: { equals: 'middle' } },
      { and: [{ not: { codeword: { nonsense: 1 } } }] },
    ]) {
      const { codes, text } = await where('viewer', condition);
      expect([text, codes]).toEqual([text, ['FORBIDDEN']]);
      expect(text).not.toMatch(/number|upper|greaterThan|text field/);
    }
  });

  it('on the record of a reference tells nothing of what may not be read there', async () => {
    const admin = await where('admin', { keeper: { record: { nonsense: { equals: 1 } } } });
    expect(admin.text).toMatch('combination');
    const viewer = await where('viewer', { keeper: { record: { nonsense: { equals: 1 } } } });
    expect([viewer.codes, viewer.text]).toEqual([
      ['MALFORMED_FILTER'],
      expect.not.stringMatching('combination'),
    ]);
  });

  it('of a collection that may not be read is not looked at', async () => {
    for (const collection of ['vaultroom', 'fee_receipt']) {
      const { codes, text } = await where('viewer', { nonsense: { equals: 1 } }, collection);
      expect([text, codes]).toEqual([text, ['FORBIDDEN']]);
      expect(text).not.toMatch(/declared field|combination|receipt_no/);
    }
  });
});

describe('a write of all that match', () => {
  it.each(['updateRecords', 'deleteRecords'])(
    '%s is refused before its filter is looked at',
    async (name) => {
      const rest = name === 'updateRecords' ? ', set: {name: "a"}' : '';
      const { codes } = await ask(
        'viewer',
        `mutation { ${name}(collection: "task", oquery: "bad"${rest}) { count } }`,
      );
      expect(codes).toEqual(['FORBIDDEN']);
    },
  );
});

describe('without a credential', () => {
  const documents: readonly [what: string, query: string][] = [
    ['what is there', '{ tasks { nodes { name } } }'],
    ['a field that is not there', '{ tasks { nodes { nme } } }'],
    ['a root field that is not there', '{ tsks { id } }'],
    ['an argument that is not there', '{ tasks(frst: 1) { totalCount } }'],
    ['an enum value that is not there', '{ tasks(orderBy: {field: NME}) { totalCount } }'],
    ['a mutation', 'mutation { createTask(data: {nme: 1}) { id } }'],
    ['a subscription', 'subscription { taskChanged { nme } }'],
    ['fields in fragments', 'query { ...A } fragment A on Query { ... on Query { tsks { id } ...A } }'],
    [
      'public and other fields',
      'mutation { login(userName: "a", password: "b") { nope } deleteTask(id: 1) { id } }',
    ],
  ];

  it.each(documents)('%s is answered as everything is', async (_what, query) => {
    const { status, errors, data } = await send(gateway, { query });
    expect({ status, data, message: errors.map(({ message }) => message) }).toEqual({
      status: 401,
      data: undefined,
      message: ['Send an access token or an API key: Authorization: Bearer <token>.'],
    });
    expect(errors[0]).toEqual({
      message: expect.any(String),
      extensions: { code: 'UNAUTHENTICATED', status: 401, requestId: expect.any(String) },
    });
  });

  it('a login that is not valid is told nothing of the schema', async () => {
    for (const query of [
      'mutation { login(userNam: "a") { accessTokn } }',
      'mutation { login(userName: "a", password: "b") { ...X } } fragment X on Task { nme }',
      'mutation($w: TaskWher) { login(userName: "a", password: "b") { accessToken } }',
      '{ __typenam }',
    ]) {
      const { errors } = await send(gateway, { query });
      const text = JSON.stringify(errors);
      expect(errors.length).toBeGreaterThan(0);
      expect(text).not.toMatch(/Did you mean|Login\b|type \\"|Task|accessToken/);
    }
  });

  it('signing in goes on as it was', async () => {
    const query =
      'mutation($p: String!) { login(userName: "clerk", password: $p) { __typename accessToken } }';
    const { data, errors } = await send(gateway, { query, variables: { p: 'correct horse' } });
    expect(errors).toEqual([]);
    expect(data).toMatchObject({ login: { __typename: 'Login', accessToken: expect.any(String) } });
    expect((await send(gateway, { query: '{ __typename }' })).data).toEqual({ __typename: 'Query' });
  });
});
