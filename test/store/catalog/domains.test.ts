import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../../src/base/json/json.js';
import { Domains } from '../../../src/store/catalog/domains.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { eventually } from '../../eventually.js';
import { ADMIN, SUB, scopeOf, TOP } from '../people.js';

const test = useTestDatabase();
let domains: Domains;
let elsewhere: Domains;
const subAdmin = scopeOf({ id: 'usr-sub', roles: ['admin'], domain: SUB });

beforeAll(async () => {
  domains = await Domains.load(test.database);
  elsewhere = await Domains.load(test.database);
  await domains.createTop({ id: 'school', name: 'School' });
  await domains.create(ADMIN, { id: 'branch', name: 'Branch' });
});

afterAll(async () => {
  await domains.close();
  await elsewhere.close();
});

describe('domains', () => {
  it('are not created by an admin of a sub-domain, nor by a clerk', async () => {
    const other = { id: 'other', name: 'Other' };
    await expect(domains.create(subAdmin, other)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(domains.create(scopeOf({ roles: ['clerk'] }), other)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  it('are not created twice, nor with an id that is none, nor a second time at the top', async () => {
    await expect(domains.create(ADMIN, { id: 'branch', name: 'B' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    await expect(domains.create(ADMIN, { id: 'a b', name: 'B' })).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
    await expect(domains.createTop({ id: 'second', name: 'B' })).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('that are not there are NOT_FOUND, with a suggestion', () => {
    expect(() => domains.get('brunch')).toThrow('"branch"');
  });

  it('are known once asked for, before it was told that another gateway made them', async () => {
    await test.database.query(sql`insert into domains (id, name, parent_id) values ('new', 'New', 'school')`);
    try {
      expect(domains.find('new')).toBeUndefined();
      await domains.assureKnown('new');
      expect(domains.find('new')).toMatchObject({ name: 'New', parentId: 'school' });
      await domains.assureKnown('nowhere', 'no\0where', undefined, '');
      expect(domains.find('nowhere')).toBeUndefined();
    } finally {
      await test.database.query(sql`delete from domains where id = 'new'`);
      await domains.refresh();
    }
  });

  it('are one above and the others below it', () => {
    expect(domains.top()).toEqual({ ...TOP, callingCode: '91' });
    expect(domains.get('branch')).toEqual({ ...SUB, callingCode: '91' });
  });

  it('are listed to an admin of the top domain; others see their own', () => {
    expect(domains.listFor(ADMIN).map((domain) => domain.id)).toEqual(['school', 'branch']);
    expect(domains.listFor(subAdmin)).toEqual([SUB]);
  });

  it('are known on every gateway', async () => {
    await eventually(() => elsewhere.find('branch') !== undefined);
  });
});

describe('properties', () => {
  it('are read and set by admins only', async () => {
    const clerk = scopeOf({ roles: ['clerk'] });
    expect(() => domains.listProperties(clerk)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
    await expect(domains.setProperty(clerk, { name: 'a', value: 1 })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  it('have a name, and a time zone is one', async () => {
    await expect(domains.setProperty(ADMIN, { name: 'a b', value: 1 })).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
    for (const value of ['Asia/Atlantis', 5, '']) {
      await expect(domains.setProperty(ADMIN, { name: 'timezone', value })).rejects.toMatchObject({
        code: 'INVALID_VALUE',
      });
    }
  });

  it('are inherited from the top domain until they are set', async () => {
    await domains.setProperty(ADMIN, { name: 'weeklyOffs', value: ['SU'] });
    expect(domains.property('branch', 'weeklyOffs')).toEqual(['SU']);
    await domains.setProperty(subAdmin, { name: 'weeklyOffs', value: ['FR'] });
    expect(domains.property('branch', 'weeklyOffs')).toEqual(['FR']);
    expect(domains.property('school', 'weeklyOffs')).toEqual(['SU']);
    await domains.setProperty(subAdmin, { name: 'weeklyOffs', value: undefined });
    expect(domains.property('branch', 'weeklyOffs')).toEqual(['SU']);
    await eventually(() => elsewhere.property('branch', 'weeklyOffs') !== undefined);
  });

  it('give a domain its time zone', async () => {
    await domains.setProperty(ADMIN, { name: 'timezone', value: 'Asia/Dubai' });
    expect([domains.get('school').timeZone, domains.get('branch').timeZone]).toEqual([
      'Asia/Dubai',
      'Asia/Dubai',
    ]);
    await domains.setProperty(ADMIN, { name: 'timezone', value: undefined });
    expect(domains.get('branch').timeZone).toBe('Asia/Kolkata');
  });

  it('are masked in lists when they are secret', async () => {
    await domains.setProperty(ADMIN, { name: 'smsKey', value: 's3cret', isSecret: true });
    expect(JSON.stringify(domains.listProperties(ADMIN))).not.toContain('s3cret');
    expect(domains.listProperties(subAdmin)).toContainEqual({
      name: 'smsKey',
      value: '********',
      isSecret: true,
      isInherited: true,
    });
    expect(domains.property('branch', 'smsKey')).toBe('s3cret');
  });

  it('stay secret when a secret is set anew, until they are removed', async () => {
    const listed = () => domains.listProperties(ADMIN).find(({ name }) => name === 'smsKey');
    await domains.setProperty(ADMIN, { name: 'smsKey', value: 'other' });
    expect(listed()).toMatchObject({ value: '********', isSecret: true });
    expect(domains.property('school', 'smsKey')).toBe('other');
    await domains.setProperty(ADMIN, { name: 'smsKey', value: undefined });
    await domains.setProperty(ADMIN, { name: 'smsKey', value: 'open' });
    expect(listed()).toMatchObject({ value: 'open', isSecret: false });
  });

  it('are masked where they say what the gateway connects to, however they were set', async () => {
    await domains.setProperty(ADMIN, { name: 'smtpUrl', value: 'smtp://u:hunter2@mail.example' });
    expect(JSON.stringify(domains.listProperties(ADMIN))).not.toContain('hunter2');
    expect(JSON.stringify(domains.listKnownProperties(ADMIN))).not.toContain('hunter2');
    await domains.setProperty(ADMIN, { name: 'smtpUrl', value: undefined });
  });

  it('have a size that they do not pass, and texts that can be kept', async () => {
    const set = (value: JsonValue) => domains.setProperty(ADMIN, { name: 'own', value });
    await set('x'.repeat(65_534));
    await expect(set('x'.repeat(65_535))).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    for (const value of ['a\u0000', ['\ud800'], { '\u0000': 1 }, { a: [{ b: '\u0000' }] }]) {
      await expect(set(value)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    }
    await domains.setProperty(ADMIN, { name: 'own', value: undefined });
  });

  it('are at most 500 in a domain, of which each may still be changed', async () => {
    await test.database.query(
      sql`insert into properties (domain_id, name, value, updated_at)
        select 'school', 'many' || n, '1', now() from generate_series(1, 500) n`,
    );
    await expect(domains.setProperty(ADMIN, { name: 'onemore', value: 1 })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    await domains.setProperty(ADMIN, { name: 'many7', value: 2 });
    expect(domains.property('school', 'many7')).toBe(2);
    await test.database.query(sql`delete from properties where name like 'many%'`);
    await domains.refresh();
  });
});
