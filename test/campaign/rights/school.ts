/**
 * A school whose every value is like no other, so that an answer shows where each of its values comes from;
 * and all kinds of callers.
 */
import type { Gateway } from '../../contract/gateway.js';
import { ask, send } from '../../contract/graphql.js';
import { type Caller, COLLECTIONS, type Declared, type DeclaredField, type Verb } from './promise.js';

export type DomainName = 'top' | 'branch';

export interface MarkedRecord {
  readonly id: string;
  readonly data: Record<string, unknown>;
  /** By top-level field: texts that are in an answer only where a value of this field is. */
  readonly markers: ReadonlyMap<string, readonly string[]>;
}

/** Of each collection one record that row rules let a teacher reach, and one that they do not. */
type Records = ReadonlyMap<string, readonly MarkedRecord[]>;

export interface School {
  readonly gateway: Gateway;
  readonly records: Readonly<Record<DomainName, Records>>;
  readonly callers: readonly Caller[];
}

/** What row rules and the database's own triggers look at; no markers. */
const PLAIN: Readonly<Record<string, readonly [near: unknown, far: unknown]>> = {
  'class.name': ['5', '6'],
  'class.sections.name': ['A', 'B'],
  class: ['5', '6'],
  section: ['A', 'B'],
  shared_with: ['viewer', 'nobody'],
};

export async function openSchool(gateway: Gateway): Promise<School> {
  await gateway.sql.query(
    `insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top') on conflict do nothing`,
  );
  const records = { top: await fill(gateway, 'top'), branch: await fill(gateway, 'branch') };
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'branch', collection, id, data from records where collection = 'pltf_user' and id like 'usr-%'
       and domain = 'top'
     on conflict do nothing`,
  );
  await gateway.sql.query(
    `insert into credentials (domain_id, user_id, password_hash)
     select 'branch', user_id, password_hash from credentials where domain_id = 'top' on conflict do nothing`,
  );
  await gateway.sql.query(`select pg_notify(campus_channel('campus_domains'), 'branch')`);
  const callers = await makeCallers(gateway);
  for (const caller of callers.filter(isAdministrator)) await saveScript(gateway, caller);
  return { gateway, records, callers };
}

function isAdministrator({ roles, collections, headers }: Caller): boolean {
  return roles.includes('admin') && collections === undefined && headers['x-domain'] === undefined;
}

async function saveScript(gateway: Gateway, { headers }: Caller): Promise<void> {
  const script = { name: 'matrix', code: SCRIPT, roles: ROLE_NAMES };
  const { errors } = await send(gateway, {
    query: 'mutation($s: SaveScriptInput!) { saveScript(script: $s) { name } }',
    variables: { s: script },
    headers,
  });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
}

/** Runs what it is asked to on `platform.db`, as its caller. */
const SCRIPT = `export default async ({ call, args }) => {
  try {
    const answer = platform.db[call](...args);
    if (typeof answer[Symbol.asyncIterator] !== 'function') return { answer: await answer };
    const found = [];
    for await (const record of answer) found.push(record);
    return { answer: found };
  } catch (error) {
    return { failed: error.status ?? 500, message: String(error.message) };
  }
};`;

async function fill(gateway: Gateway, domain: DomainName): Promise<Records> {
  const made = new Map<string, readonly MarkedRecord[]>();
  for (const collection of COLLECTIONS) {
    const records = (['near', 'far'] as const).map((place) => markedRecord(domain, collection, place));
    for (const { id, data } of records) {
      await gateway.sql.query(
        `insert into records (domain, collection, id, data) values ($1, $2, $3, $4::jsonb)`,
        [domain, collection.name, id, JSON.stringify(data)],
      );
    }
    made.set(collection.name, records);
  }
  return made;
}

let count = 0;

export function markedRecord(domain: DomainName, collection: Declared, place: 'near' | 'far'): MarkedRecord {
  const markers = new Map<string, readonly string[]>();
  const data: Record<string, unknown> = {};
  for (const field of collection.fields) {
    const found: string[] = [];
    data[field.name] = makeValue(field, { domain, collection, place, path: field.name, markers: found });
    markers.set(field.name, found);
  }
  return { id: `${collection.name}-${place}`, data, markers };
}

interface Making {
  readonly domain: DomainName;
  readonly collection: Declared;
  readonly place: 'near' | 'far';
  readonly path: string;
  readonly markers: string[];
}

function makeValue(field: DeclaredField, making: Making): unknown {
  const value = makeScalar(field, making);
  return field.list ? [value] : value;
}

function makeScalar(field: DeclaredField, making: Making): unknown {
  const { collection, place, path, markers, domain } = making;
  const plain = PLAIN[`${collection.name}.${path}`] ?? PLAIN[path];
  if (plain !== undefined) return plain[place === 'near' ? 0 : 1];
  count += 1;
  const mark = (text: string) => {
    markers.push(text);
    return text;
  };
  switch (field.type) {
    case 'text':
      if (field.enum !== undefined) return field.enum[0];
      if (field.format === 'month') return '2026-04';
      if (field.format === 'session') return '2026-27';
      return mark(`mk.${domain}.${collection.name}.${path}.${place}`);
    case 'number':
      return Number(mark(String(7_300_000.125 + count)));
    case 'boolean':
      return true;
    case 'datetime': {
      const day = new Date(Date.UTC(2041, 0, count)).toISOString();
      return mark(field.format === 'date' ? day.slice(0, 10) : day.replace('00:00:00.000', '03:04:05.678'));
    }
    case 'reference':
      mark(`mk.${domain}.${collection.name}.${path}.${place}`);
      return {
        value: place === 'near' ? 'usr-teacher' : 'usr-nobody',
        label: `mk.${domain}.${collection.name}.${path}.${place}`,
      };
    case 'object':
      return Object.fromEntries(
        (field.fields ?? []).map((member) => [
          member.name,
          makeValue(member, { ...making, path: `${path}.${member.name}` }),
        ]),
      );
  }
}

const ROLE_NAMES = ['admin', 'accountant', 'teacher', 'clerk', 'viewer'] as const;

async function makeCallers(gateway: Gateway): Promise<readonly Caller[]> {
  const attributesOf = (role: string, domain: DomainName) => ({
    self: [[`usr-${role}`]],
    // The class that `fill` makes is taught by this one teacher, in either domain.
    sectionsTaught: role === 'teacher' && domain !== undefined ? [['5', 'A']] : [],
  });
  const users = ROLE_NAMES.map(
    (role): Caller => ({
      name: `the ${role}`,
      headers: bearer(gateway.tokenOf(role)),
      roles: [role],
      userId: `usr-${role}`,
      domain: 'top',
      attributes: attributesOf(role, 'top'),
    }),
  );
  const inBranch: Caller[] = [];
  for (const role of ['admin', 'clerk', 'teacher'] as const) {
    inBranch.push({
      name: `the ${role} of the branch`,
      headers: bearer(await signIn(gateway, role, 'branch')),
      roles: [role],
      userId: `usr-${role}`,
      domain: 'branch',
      attributes: attributesOf(role, 'branch'),
    });
  }
  const visiting: Caller = {
    name: 'the admin of the top domain, in the branch',
    headers: { ...bearer(gateway.tokenOf('admin')), 'x-domain': 'branch' },
    roles: ['admin'],
    userId: 'usr-admin',
    domain: 'branch',
    attributes: {},
  };
  const keys: Caller[] = [];
  const scopes: readonly [
    role: 'admin' | 'clerk',
    collections: Record<string, readonly Verb[]>,
    reports: string[],
  ][] = [
    ['clerk', { '*': ['read'] }, ['*']],
    ['clerk', { task: ['read', 'update'] }, []],
    ['clerk', {}, []],
    ['admin', { '*': ['create'], registration: ['read'] }, ['strength']],
  ];
  for (const [role, collections, reports] of scopes) {
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "matrix", scopes: $s}) { key } }',
      { variables: { s: { collections, reports, scripts: ['*'] } }, as: role },
    );
    keys.push({
      name: `a key of the ${role}: ${JSON.stringify(collections)}`,
      headers: bearer(createApiKey.key),
      roles: [role],
      userId: `usr-${role}`,
      collections,
      reports,
      domain: 'top',
      attributes: attributesOf(role, 'top'),
    });
  }
  const several = await usersOfSeveralRoles(gateway);
  return [
    ...users,
    ...several,
    ...inBranch,
    visiting,
    ...keys,
    nobody('nobody', {}),
    await removedUser(gateway),
  ];
}

function nobody(name: string, headers: Record<string, string>): Caller {
  return { name, headers, roles: [], userId: '', domain: 'top', attributes: {} };
}

/** Rows of the one and all rows with fields hidden of the other; two of all rows; three together. */
const COMBINED_ROLES = [
  ['teacher', 'viewer'],
  ['teacher', 'clerk'],
  ['accountant', 'viewer'],
  ['accountant', 'teacher', 'viewer'],
] as const;

async function usersOfSeveralRoles(gateway: Gateway): Promise<readonly Caller[]> {
  const callers: Caller[] = [];
  for (const roles of COMBINED_ROLES) {
    const name = roles.join('-');
    await addUser(gateway, name, roles);
    const isTeacher = roles.some((role) => role === 'teacher');
    if (isTeacher) await addTeacher(gateway, `usr-${name}`);
    callers.push({
      name: `who is ${roles.join(' and ')}`,
      headers: bearer(await signIn(gateway, name, 'top')),
      roles,
      userId: `usr-${name}`,
      domain: 'top',
      attributes: { self: [[`usr-${name}`]], sectionsTaught: isTeacher ? [['5', 'A']] : [] },
    });
  }
  return callers;
}

/** Teaches the class in reach of teachers, beside its own teacher. */
async function addTeacher(gateway: Gateway, id: string): Promise<void> {
  await gateway.sql.query(
    `update records
     set data = jsonb_set(data, '{sections}', data->'sections' || jsonb_build_object(
       'name', 'A', 'class_teacher', jsonb_build_object('value', $1::text)))
     where domain = 'top' and collection = 'class' and id = 'class-near'`,
    [id],
  );
}

async function addUser(gateway: Gateway, name: string, roles: readonly string[]): Promise<void> {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select domain, collection, 'usr-' || $1, data || jsonb_build_object(
       'user_name', $1::text, 'employee_code', 'E-' || $1, 'roles', $2::jsonb)
     from records where domain = 'top' and collection = 'pltf_user' and id = 'usr-admin'`,
    [name, JSON.stringify(roles)],
  );
  await gateway.sql.query(
    `insert into credentials (domain_id, user_id, password_hash)
     select domain_id, 'usr-' || $1, password_hash from credentials where domain_id = 'top'
       and user_id = 'usr-admin'`,
    [name],
  );
}

/** Signs in, and then is no user any more. */
async function removedUser(gateway: Gateway): Promise<Caller> {
  await addUser(gateway, 'removed', ['admin']);
  const headers = bearer(await signIn(gateway, 'removed', 'top'));
  const removed = await gateway.fetch('/o/recs/pltf_user/usr-removed', { method: 'DELETE', as: 'admin' });
  if (!removed.ok) throw new Error(`the user could not be removed: ${removed.status}`);
  return nobody('a user who was removed', headers);
}

async function signIn(gateway: Gateway, userName: string, domain: DomainName): Promise<string> {
  const { login } = await ask(
    gateway,
    `mutation { login(userName: "${userName}", password: "correct horse", domain: "${domain}") { ` +
      'accessToken } }',
    {},
  );
  return login.accessToken;
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
