import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemPrincipal } from '../../../src/base/model/scope.js';
import type { Login } from '../../../src/services/auth/authenticator.js';
import { loadPrincipalAttributes } from '../../../src/services/auth/principals.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { expectSoon, type Gateway, insertDomains, insertUser, openGateway } from './gateway.js';

const DEFINITION = {
  name: 'class',
  fields: [
    { name: 'name', type: 'text' },
    {
      name: 'sections',
      type: 'object',
      list: true,
      fields: [
        { name: 'name', type: 'text' },
        { name: 'class_teacher', type: 'reference', target: 'pltf_user' },
      ],
    },
  ],
  grants: [
    {
      attribute: 'sectionsTaught',
      list: 'sections',
      caller: 'class_teacher',
      key: ['name', 'sections.name'],
    },
    { attribute: 'classesTaught', list: 'sections', caller: 'class_teacher', key: ['name'] },
  ],
};
const CLASS = parseCollection(DEFINITION, { source: 'test', isDeclared: false, version: 1 });

let database: Database;
let gateway: Gateway;

// Before the database, whose own hook closes it: hooks run in the order they are defined.
afterAll(async () => {
  await gateway?.close();
});

const testDatabase = useTestDatabase();

beforeAll(async () => {
  database = testDatabase.database;
  await insertDomains(database);
  gateway = await openGateway(database);
});

describe('what records grant a user', () => {
  it.each<[string, unknown, readonly unknown[]]>([
    [
      'an element that points to the user',
      { name: '5', sections: [section('A', 'u1'), section('B', 'u2')] },
      [['5', 'A']],
    ],
    [
      'each of several',
      { name: '5', sections: [section('A', 'u1'), section('B', 'u1')] },
      [
        ['5', 'A'],
        ['5', 'B'],
      ],
    ],
    [
      'a list of references too',
      { name: '5', sections: [{ name: 'A', class_teacher: [{ value: 'u2' }, { value: 'u1' }] }] },
      [['5', 'A']],
    ],
    [
      'exact numbers',
      { name: 12345678901234567890n, sections: [section('A', 'u1')] },
      [['12345678901234567890', 'A']],
    ],
    [
      'nothing by a label',
      { name: '5', sections: [{ name: 'A', class_teacher: { value: 'u2', label: 'u1' } }] },
      [],
    ],
    [
      'nothing by another name',
      { name: '5', sections: [{ name: 'u1', class_teacher: { value: 'u2' } }] },
      [],
    ],
    ['nothing without a part of the key', { sections: [section('A', 'u1')] }, []],
    [
      'nothing by a null part of the key',
      { name: '5', sections: [{ name: null, class_teacher: { value: 'u1' } }] },
      [],
    ],
    ['nothing by a list that is none', { name: '5', sections: section('A', 'u1') }, []],
    ['nothing by elements that are none', { name: '5', sections: ['u1', null, 7, ['u1']] }, []],
  ])('%s', async (_, record, sectionsTaught) => {
    await storeClass('top', record);
    const attributes = await loadPrincipalAttributes(database, [CLASS], { domainId: 'top', userId: 'u1' });
    const shown = (attributes.sectionsTaught ?? []).map((key) => key.map(String));
    expect(shown.sort()).toEqual(sectionsTaught);
  });

  it('nothing in another domain, nor by a deleted record', async () => {
    await storeClass('top', { name: '5', sections: [section('A', 'u1')] });
    expect(await loadPrincipalAttributes(database, [CLASS], { domainId: 'north', userId: 'u1' })).toEqual({});
    await database.query(sql`update records set deleted_at = now() where collection = 'class'`);
    expect(await loadPrincipalAttributes(database, [CLASS], { domainId: 'top', userId: 'u1' })).toEqual({});
  });

  it.each(['u1"', '") || true', '\\', 'u1" || @ == "u2', "'; drop table records; --", '$', '*', 'é'])(
    'nothing to a user whose id is %j, read literally',
    async (userId) => {
      await storeClass('top', { name: '5', sections: [section('A', 'u1'), section('B', 'u2')] });
      expect(await loadPrincipalAttributes(database, [CLASS], { domainId: 'top', userId })).toEqual({});
      await storeClass('top', { name: '5', sections: [section('A', userId)] });
      expect(await loadPrincipalAttributes(database, [CLASS], { domainId: 'top', userId })).toMatchObject({
        sectionsTaught: [['5', 'A']],
      });
    },
  );

  it('without any granting collection costs no round trip', async () => {
    const unreachable = { query: () => Promise.reject(new Error('not to be called')) };
    expect(await loadPrincipalAttributes(unreachable, [], { domainId: 'top', userId: 'u1' })).toEqual({});
  });
});

describe('the attributes of a live token', () => {
  it('follow the granting records and the declaration', async () => {
    await insertUser(database, { userName: 'kavita', roles: ['teacher'] });
    await storeClass('top', { name: '7', sections: [section('C', 'usr-kavita')] });
    const login = await gateway.login('kavita');
    expect(await sectionsTaught(login)).toBe('{}');

    const scope = gateway.scopeOf(systemPrincipal('test', ['admin'], 'top'));
    await gateway.catalog.register(scope, DEFINITION);
    await expectSoon('{"sectionsTaught":[["7","C"]],"classesTaught":[["7"]]}', () => fail(login));

    await database.query(sql`
      with changed as (
        update records set data = data || '{"name": "8"}' where collection = 'class' returning domain
      )
      select pg_notify(campus_channel('campus_principals'),
        json_build_object('domain', domain)::text) from changed`);
    await expectSoon('{"sectionsTaught":[["8","C"]],"classesTaught":[["8"]]}', () => fail(login));
  });
});

async function sectionsTaught(login: Login): Promise<string> {
  const { attributes } = await gateway.authenticator.authenticate(login.accessToken);
  return JSON.stringify(attributes);
}

async function fail(login: Login): Promise<never> {
  throw Object.assign(new Error(), { code: await sectionsTaught(login) });
}

function section(name: string, teacher: string): unknown {
  return { name, class_teacher: { value: teacher, label: 'Somebody' } };
}

/** The only record of the collection. */
async function storeClass(domain: string, record: unknown): Promise<void> {
  const text = JSON.stringify(record, (_, value) =>
    typeof value === 'bigint' ? `#${value}#` : value,
  ).replaceAll(/"#|#"/g, '');
  await database.query(sql`delete from records where collection = 'class'`);
  await database.query(sql`
    insert into records (domain, collection, id, data) values (${domain}, 'class', 'c1', ${text}::jsonb)`);
}
