/** Who uses a field of a collection is asked before an alteration drops it. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { PASSWORD, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';
import { connect } from './live.js';

const gateway = useGateway({ API_KEY_ROLES: 'admin' });

const FIELDS = ['motto', 'colour', 'patron', 'hall', 'founded', 'song', 'flag', 'unused', 'elsewhere']
  .concat(['rest_filter', 'rest_sort', 'rest_shown', 'rest_sent', 'rest_of_one', 'any_filter'])
  .concat(['forbidden', 'marker']);
const JSON_TYPE = { 'content-type': 'application/json' };
const TODAY = () => new Date().toISOString().slice(0, 10);

let key: string;
let keyId: string;
let north: string;

beforeAll(async () => {
  await gateway.sql.query(`
    insert into domains (id, name, parent_id) values ('north', 'North', 'top');
    insert into records (domain, collection, id, data)
    values ('north', 'pltf_user', 'usr-north',
      '{"user_name": "north-admin", "name": "North", "active": true, "roles": ["admin"]}');
    insert into credentials (domain_id, user_id, password_hash)
    select 'north', 'usr-north', password_hash from credentials where user_id = 'usr-admin';
    select pg_notify(campus_channel('campus_domains'), '')`);
  await ask(gateway, 'mutation ($d: JSON!) { registerCollection(definition: $d) { name } }', {
    variables: { d: definitionOf(FIELDS) },
    as: 'admin',
  });
  const made = await ask(
    gateway,
    'mutation { createApiKey(data: {name: "kiosk", scopes: {collections: {guild: ["read", "create"]}, ' +
      'reports: [], scripts: []}}) { id key } }',
  );
  ({ id: keyId, key } = made.createApiKey);
  // The gateway hears of the domain and of the collection a moment after they are there.
  await eventually(async () => {
    const login = new URLSearchParams({ user_name: 'north-admin', domain: 'north', password: PASSWORD });
    const answer = await fetch(`${gateway.url}/auth?${login}`, {
      method: 'POST',
      headers: { 'x-domain': 'north' },
    });
    north = ((await answer.json()) as { access_token?: string }).access_token ?? '';
    return north !== '';
  });
  await eventually(async () => (await byKey('{ guilds { totalCount } }')).errors.length === 0);
});

function definitionOf(fields: readonly string[]): object {
  return {
    name: 'guild',
    title: 'Guild',
    fields: fields.map((name) => ({ name, type: 'text', deprecated: 'to go' })),
  };
}

function byKey(query: string, variables: object = {}) {
  return send(gateway, { query, variables, headers: { authorization: `Bearer ${key}` } });
}

async function usesOf(field: string, token?: string): Promise<Answered> {
  const query =
    'query ($f: String!) { fieldUses(collection: "guild", field: $f) ' +
    '{ operation keyId keyName lastUsedOn } }';
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const as = token === undefined ? ('admin' as const) : undefined;
  return (await ask(gateway, query, { variables: { f: field }, as, headers })).fieldUses;
}

async function operationsOf(field: string): Promise<readonly (string | null)[]> {
  return (await usesOf(field)).map(({ operation }: Answered) => operation);
}

/** A use that is told at once waits for the next batch: it is looked for until it is there. */
async function expectUses(field: string, operations: readonly (string | null)[]): Promise<void> {
  await expectEventually(() => operationsOf(field), operations);
}

async function alter(fields: readonly string[], more = '') {
  return await send(gateway, {
    query: `mutation ($d: JSON!) { alterCollection(definition: $d${more}) { fields { name } } }`,
    variables: { d: definitionOf(fields) },
    as: 'admin',
  });
}

const without = (...gone: readonly string[]) => FIELDS.filter((name) => !gone.includes(name));

describe('the uses of a field', () => {
  it('name the operation, the key and the day, by what is selected in it and in its fragments', async () => {
    const text = 'query Board { guilds { nodes { ...Motto } } } fragment Motto on Guild { motto }';
    expect((await byKey(text)).errors).toEqual([]);
    await expectUses('motto', ['Board']);
    expect(await usesOf('motto')).toEqual([
      { operation: 'Board', keyId, keyName: 'kiosk', lastUsedOn: TODAY() },
    ]);
    await ask(gateway, '{ guilds { nodes { motto } } }');
    await expectEventually(
      async () => await usesOf('motto'),
      [
        { operation: '/graphql', keyId: null, keyName: null, lastUsedOn: TODAY() },
        { operation: 'Board', keyId, keyName: 'kiosk', lastUsedOn: TODAY() },
      ],
    );
  });

  it('are seen in conditions, orders and groups, and in what is written', async () => {
    await byKey('query Red { guilds(where: {or: [{colour: {equals: "red"}}]}) { totalCount } }');
    await expectUses('colour', ['Red']);
    await byKey('query Order { guilds(orderBy: [{field: PATRON}]) { totalCount } }');
    await expectUses('patron', ['Order']);
    await byKey('query Groups { guildsAggregate(groupBy: [HALL]) { count } }');
    await expectUses('hall', ['Groups']);
    const { errors } = await byKey(
      'mutation Found($data: CreateGuildInput!) { createGuild(data: $data) { id } }',
      { data: { id: 'g-1', founded: '1911' } },
    );
    expect(errors).toEqual([]);
    await expectUses('founded', ['Found']);
  });

  it('are seen in variables of every request, also where an earlier one had others', async () => {
    const text =
      'query Find($where: GuildWhereInput, $by: [GuildOrderByInput!]) ' +
      '{ guilds(where: $where, orderBy: $by) { totalCount } }';
    await byKey(text, { where: { id: { equals: 'g-1' } } });
    await byKey(text, { where: { not: { song: { isNull: true } } }, by: [{ field: 'FLAG' }] });
    await expectUses('song', ['Find']);
    await expectUses('flag', ['Find']);
    expect(await usesOf('unused')).toEqual([]);
  });

  it('are seen in REST requests, and in fields of any collection', async () => {
    const rest = (path: string, init: RequestInit = {}) =>
      fetch(`${gateway.url}${path}`, { ...init, headers: { ...JSON_TYPE, authorization: `Bearer ${key}` } });
    const json = (method: string, body: object) => ({ method, body: JSON.stringify(body) });
    expect((await rest('/o/recs/guild?oquery=rest_filter=x&sort=rest_sort&project=rest_shown')).status).toBe(
      200,
    );
    expect((await rest('/o/guild', json('POST', { _id: 'g-rest', rest_sent: 'x' }))).status).toBe(201);
    expect((await rest('/o/recs/guild/g-rest?project=rest_of_one')).status).toBe(200);
    const text =
      'query Any { records(collection: "guild", where: {any_filter: {equals: "x"}}) { totalCount } }';
    expect((await byKey(text)).errors).toEqual([]);
    for (const field of ['rest_filter', 'rest_sort', 'rest_shown']) {
      await expectUses(field, ['/o/recs/:collection']);
    }
    await expectUses('rest_sent', ['/o/:collection']);
    await expectUses('rest_of_one', ['/o/recs/:collection/:id']);
    await expectUses('any_filter', ['Any']);
  });

  it('are those of callers who may', async () => {
    const { errors } = await byKey(
      'mutation Never { updateGuild(id: "g-rest", data: {forbidden: "x"}) { id } }',
    );
    expect(errors[0]?.extensions.code).toBe('FORBIDDEN');
    const answer = await fetch(`${gateway.url}/o/recs/guild/g-rest`, {
      method: 'PATCH',
      headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
      body: JSON.stringify({ forbidden: 'x' }),
    });
    expect(answer.status).toBe(403);
    await byKey('query Marker { guilds(where: {marker: {equals: "x"}}) { totalCount } }');
    await expectUses('marker', ['Marker']);
    expect(await usesOf('forbidden')).toEqual([]);
  });

  it('are none of fields that are hidden from who projects them', async () => {
    const used = async () => {
      const query = '{ fieldUses(collection: "registration", field: "dob") { operation } }';
      return (await ask(gateway, query)).fieldUses.length;
    };
    for (const path of ['/o/recs/registration?project=dob,name', '/o/recs/registration?project=dob,class']) {
      expect((await gateway.fetch(path, { as: 'viewer' })).status).toBe(200);
    }
    await gateway.fetch('/o/recs/registration?project=gender', { as: 'viewer' });
    const query = '{ fieldUses(collection: "registration", field: "gender") { operation } }';
    await eventually(async () => (await ask(gateway, query)).fieldUses.length === 1);
    expect(await used()).toBe(0);
    await gateway.fetch('/o/recs/registration?project=dob', { as: 'admin' });
    await eventually(async () => (await used()) === 1);
  });

  it('are seen in subscriptions', async () => {
    const subscriber = connect(gateway, { as: 'admin' });
    await subscriber.subscribe('subscription Watch { guildChanged { record { flag } } }');
    await expectEventually(async () => new Set(await operationsOf('flag')), new Set(['Find', 'Watch']));
    subscriber.dispose();
  });

  it('are for admins, of a field that is there', async () => {
    const query = '{ fieldUses(collection: "guild", field: "moto") { operation } }';
    const { errors } = await send(gateway, { query, as: 'admin' });
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('Did you mean "motto"?'),
      extensions: { code: 'INVALID_VALUE' },
    });
    expect(await codesOf(gateway, { query, as: 'clerk' })).toEqual(['FORBIDDEN']);
    expect(await codesOf(gateway, { query: query.replace('guild', 'gild'), as: 'admin' })).toEqual([
      'NOT_FOUND',
    ]);
  });
});

describe('an alteration', () => {
  it('that drops a used field is refused with who used it, and when', async () => {
    const { errors } = await alter(without('colour', 'unused'));
    expect(errors[0]?.extensions.code).toBe('CONFLICT');
    expect(errors[0]?.message).toContain(`Red by the key "kiosk", last on ${TODAY()}`);
    expect(errors[0]?.message).toContain('dropUsedFields: true');
    expect(errors[0]?.message).not.toContain('unused');
  });

  it('that drops no used field goes on as before', async () => {
    expect((await alter(without('unused'))).errors).toEqual([]);
  });

  it('does not name the uses of another domain, which sees its own', async () => {
    await eventually(async () => {
      const query = 'query Secret { guilds { nodes { elsewhere } } }';
      return (
        (await send(gateway, { query, headers: { authorization: `Bearer ${north}` } })).errors.length === 0
      );
    });
    await expectEventually(
      async () => await usesOf('elsewhere', north),
      [{ operation: 'Secret', keyId: null, keyName: null, lastUsedOn: TODAY() }],
    );
    expect(await usesOf('elsewhere')).toEqual([]);
    const { errors } = await alter(without('unused', 'elsewhere'));
    expect(errors[0]?.message).toContain('within 30 days by operations of other domains.');
    expect(JSON.stringify(errors)).not.toContain('Secret');
  });

  it('drops a used field when it is told to', async () => {
    const { data, errors } = await alter(without('unused', 'colour'), ', dropUsedFields: true');
    expect(errors).toEqual([]);
    expect(JSON.stringify(data)).not.toContain('colour');
  });

  it('minds no use of more than 30 days ago', async () => {
    await gateway.sql.query(`update field_uses set last_used_on = last_used_on - 31 where field = 'hall'`);
    expect(await usesOf('hall')).toEqual([]);
    expect((await alter(without('unused', 'colour', 'hall'))).errors).toEqual([]);
  });
});

describe('the trial of a declaration', () => {
  const TRIAL =
    'query ($d: JSON!) { collectionTrial(definition: $d) { isNew changes { pointer kind before after } ' +
    'faults { pointer detail } useFaults { pointer detail } } }';
  const tryOut = async (d: object) =>
    (await ask(gateway, TRIAL, { variables: { d }, as: 'admin' })).collectionTrial;
  const definitionNow = async () =>
    (await ask(gateway, '{ collectionDefinition(name: "guild") }')).collectionDefinition;

  it('tells the changes, the faults and the uses, and changes nothing', async () => {
    const before = await definitionNow();
    expect(before.fields.map(({ name }: Answered) => name)).toEqual(without('unused', 'colour', 'hall'));
    const [motto, ...others] = before.fields.filter(({ name }: Answered) => name !== 'patron');
    const trial = await tryOut({
      ...before,
      title: 'Guilds',
      fields: [{ ...motto, type: 'number' }, ...others, { name: 'hymn', type: 'text', required: true }],
    });
    expect(trial).toEqual({
      isNew: false,
      changes: [
        { pointer: '/title', kind: 'CHANGED', before: 'Guild', after: 'Guilds' },
        { pointer: '/fields/motto', kind: 'CHANGED', before: motto, after: { ...motto, type: 'number' } },
        {
          pointer: '/fields/hymn',
          kind: 'ADDED',
          before: null,
          after: { name: 'hymn', type: 'text', required: true },
        },
        { pointer: '/fields/patron', kind: 'REMOVED', before: expect.anything(), after: null },
      ],
      faults: [
        { pointer: '/fields/motto', detail: expect.stringContaining('could not be read as a number') },
        { pointer: '/fields/hymn', detail: expect.stringContaining('it cannot be required') },
      ],
      useFaults: [{ pointer: '/fields', detail: expect.stringContaining('Order by the key "kiosk"') }],
    });
    expect(await definitionNow()).toEqual(before);
  });

  it('tells of another order of the fields, and of none where nothing is changed', async () => {
    const before = await definitionNow();
    expect((await tryOut(before)).changes).toEqual([]);
    const [first, second, ...others] = before.fields;
    const { changes } = await tryOut({ ...before, fields: [second, first, ...others] });
    expect(changes).toEqual([expect.objectContaining({ pointer: '/fields', kind: 'CHANGED' })]);
  });

  it('tells of a new one what it would be, and why it could not be', async () => {
    expect(await tryOut({ name: 'choir', title: 'Choir' })).toEqual({
      isNew: true,
      changes: [
        { pointer: '/name', kind: 'ADDED', before: null, after: 'choir' },
        { pointer: '/title', kind: 'ADDED', before: null, after: 'Choir' },
      ],
      faults: [],
      useFaults: [],
    });
    const { faults } = await tryOut({ name: 'choir', plural: 'guilds' });
    expect(faults).toEqual([{ pointer: null, detail: expect.stringContaining('the GraphQL name "guilds"') }]);
    const said = (await tryOut({ name: 'choir', plural: 'classes' })).faults[0].detail;
    expect(said).toContain('the GraphQL name "classes" is that of the collection class');
    expect((await tryOut({ name: 'task', title: 'Task' })).faults[0].detail).toContain(
      'schema/collections/task.json',
    );
  });

  it('is for admins of the top domain, who send a declaration', async () => {
    const query = TRIAL;
    const variables = { d: { name: 'choir', colour: 'red' } };
    expect(await codesOf(gateway, { query, variables, as: 'admin' })).toEqual(['INVALID_VALUE']);
    const headers = { authorization: `Bearer ${north}` };
    expect(await codesOf(gateway, { query, variables, headers })).toEqual(['FORBIDDEN']);
    expect(await codesOf(gateway, { query, variables, as: 'clerk' })).toEqual(['FORBIDDEN']);
  });
});

describe('fields that are not declared', () => {
  const query =
    '{ undeclaredFields(collection: "guild") { sampledCount fields { name types recordCount } } }';

  it('are found in the records of the domain, the most frequent first', async () => {
    await gateway.sql.query(`
      insert into records (domain, collection, id, data)
      values ('top', 'guild', 'g-2', '{"motto": "x", "rank": 1, "note": null}'),
        ('top', 'guild', 'g-3', '{"rank": "first"}'), ('north', 'guild', 'g-4', '{"secret": 1}')`);
    expect((await ask(gateway, query)).undeclaredFields).toEqual({
      sampledCount: 4,
      fields: [
        { name: 'rank', types: ['number', 'string'], recordCount: 2 },
        { name: 'note', types: ['null'], recordCount: 1 },
      ],
    });
  });

  it('are for admins to see, as the whole declaration is', async () => {
    expect(await codesOf(gateway, { query, as: 'clerk' })).toEqual(['FORBIDDEN']);
    const definition = '{ collectionDefinition(name: "task") }';
    expect(await codesOf(gateway, { query: definition, as: 'clerk' })).toEqual(['FORBIDDEN']);
    expect(await codesOf(gateway, { query: definition.replace('task', 'tosk'), as: 'admin' })).toEqual([
      'NOT_FOUND',
    ]);
  });
});
