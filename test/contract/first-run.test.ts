/** The first school of an empty database, made by who has the link and by nobody else. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, createApp } from '../../src/gateway/compose/app.js';
import { parseConfig } from '../../src/gateway/config/config.js';
import { sql } from '../../src/store/sql.js';
import { CHEAP } from '../cheap-passwords.js';
import { createTestDatabase } from '../database.js';
import { DEFAULT_SETTINGS } from './gateway.js';
import { type GraphqlAnswer, send } from './graphql.js';

let app: App;
let url: string;
let link: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  app = await createApp(parseConfig({ ...DEFAULT_SETTINGS, DATABASE_URL: database.url }), {
    logDestination: { write: () => undefined },
    passwordCost: CHEAP,
  });
  url = await app.listen();
  link = (await app.services.firstRun.offer()) ?? '';
});
afterAll(async () => {
  await app?.close();
  await drop?.();
});

const gateway = { fetch: (path: string, init?: RequestInit) => fetch(url + path, init) };
const SCHOOL = {
  ...{ id: 'dps', name: 'Delhi Public School', timeZone: 'Asia/Kolkata' },
  ...{ userName: 'asha', adminName: 'Asha Rao', password: 'correct horse' },
};
const make = (token: string, data: object = {}): Promise<GraphqlAnswer> =>
  send(gateway, {
    query: 'mutation ($token: String!, $data: MakeSchoolInput!) { makeSchool(token: $token, data: $data) }',
    variables: { token, data: { ...SCHOOL, ...data } },
  });
const isOpen = async (token: string) =>
  (await send(gateway, { query: 'query ($t: String!) { firstRun(token: $t) }', variables: { t: token } }))
    .data.firstRun;
const codeOf = ({ errors }: GraphqlAnswer) => errors[0]?.extensions.code;

describe('the first school', () => {
  it('is made by nobody without the link', async () => {
    for (const token of ['', ' ', 'cgl_', `cgl_${'A'.repeat(43)}`, `${link} `, '\0']) {
      expect([token, codeOf(await make(token))]).toEqual([token, 'NOT_FOUND']);
      expect(await isOpen(token)).toBe(false);
    }
    expect(await isOpen(link)).toBe(true);
  });

  it('by a link that another start has replaced is refused', async () => {
    const before = link;
    link = (await app.services.firstRun.offer()) ?? '';
    expect([await isOpen(before), await isOpen(link)]).toEqual([false, true]);
  });

  it.each([
    ['an id that is none', { id: 'a school' }],
    ['no name', { name: ' ' }],
    ['a time zone that is none', { timeZone: 'Delhi' }],
    ['no login name', { userName: '' }],
    ['a NUL in the name of the admin', { adminName: 'a\0b' }],
    ['half a character in its name', { name: '\ud800' }],
    ['a short password', { password: 'short' }],
  ])('is refused with %s, after which the link is still good', async (_, data) => {
    expect(codeOf(await make(link, data))).toBe('INVALID_VALUE');
    expect(await isOpen(link)).toBe(true);
  });

  it('is not made by half: a failure leaves neither a school nor a used link', async () => {
    const { database } = app.services;
    await database.query(sql`alter table credentials add constraint no_login check (false) not valid`);
    expect(codeOf(await make(link))).toBe('INTERNAL');
    await database.query(sql`alter table credentials drop constraint no_login`);
    expect(await database.query(sql`select id from domains`)).toEqual([]);
    expect(await isOpen(link)).toBe(true);
  });

  it('is made once, of two who try at the same moment, and its admin logs in', async () => {
    const answers = await Promise.all([make(link), make(link, { userName: 'other' })]);
    expect(answers.map(({ errors }) => errors.length).sort()).toEqual([0, 1]);
    const made = answers.findIndex(({ errors }) => errors.length === 0);
    const userName = made === 0 ? 'asha' : 'other';
    const login = await send(gateway, {
      query:
        `mutation { login(userName: "${userName}", password: "correct horse") ` +
        '{ user { roles domain } } }',
    });
    expect(login.data.login.user).toEqual({ roles: ['admin'], domain: 'dps' });
    expect(codeOf(await make(link, { id: 'second' }))).toBe('NOT_FOUND');
    expect(await isOpen(link)).toBe(false);
    expect(await app.services.firstRun.offer()).toBeUndefined();
    expect(app.services.domains.list().map(({ id, timeZone }) => [id, timeZone])).toEqual([
      ['dps', 'Asia/Kolkata'],
    ]);
  });
});
