/** Time-based codes beside the password: switched on, asked for, used once, lost, required by setting. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { PASSWORD, type Role, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, type GraphqlAnswer, send } from './graphql.js';

const gateway = useGateway({ SECOND_FACTOR_ROLES: 'accountant', LOGIN_LOCKOUT_FAILURES: '3' });

beforeEach(async () => {
  // Codes are by half a minute of the clock, which no test is to cross.
  const leftMs = 30_000 - (Date.now() % 30_000);
  if (leftMs < 3_000) await new Promise((resolve) => setTimeout(resolve, leftMs));
  await gateway.sql.query('delete from second_factors');
  await gateway.sql.query('delete from recovery_codes');
  await gateway.sql.query('delete from login_failures');
});

const LOGIN =
  'mutation ($u: String!, $p: String!, $c: String) { login(userName: $u, password: $p, code: $c) ' +
  '{ accessToken } }';
const logIn = (userName: string, code?: string, password = PASSWORD): Promise<GraphqlAnswer> =>
  send(gateway, { query: LOGIN, variables: { u: userName, p: password, c: code ?? null } });
const codeOf = ({ errors }: GraphqlAnswer) => errors[0]?.extensions.code;

/** The code that a device shows now, or so many steps of half a minute later. */
function codeBy(secret: string, steps = 0): string {
  const timestamp = Date.now() + steps * 30_000;
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
}

const BEGIN = 'mutation { beginSecondFactor { secret uri } }';
const CONFIRM = 'mutation ($c: String!) { confirmSecondFactor(code: $c) }';

async function switchOn(as: Role): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { secret } = (await ask(gateway, BEGIN, { as })).beginSecondFactor;
  // The code of the step before, so that the codes of this one and the next are still to be used.
  const { confirmSecondFactor } = await ask(gateway, CONFIRM, { variables: { c: codeBy(secret, -1) }, as });
  return { secret, recoveryCodes: confirmSecondFactor };
}

async function state(as: Role): Promise<Answered> {
  return (await ask(gateway, '{ secondFactor { isOn isRequired isMissing recoveryCodesLeft } }', { as }))
    .secondFactor;
}

describe('a second factor', () => {
  it('is on once it is confirmed by a code', async () => {
    const { secret, uri } = (await ask(gateway, BEGIN, { as: 'clerk' })).beginSecondFactor;
    expect(uri).toBe(
      `otpauth://totp/Top:clerk?issuer=Top&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
    );
    expect((await logIn('clerk')).errors).toEqual([]);
    expect(await codesOf(gateway, { query: CONFIRM, variables: { c: '000000' }, as: 'clerk' })).toEqual([
      'INVALID_VALUE',
    ]);
    const { confirmSecondFactor: codes } = await ask(gateway, CONFIRM, {
      variables: { c: codeBy(secret) },
      as: 'clerk',
    });
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    expect(codes[0]).toMatch(/^([A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}$/);
    expect(await state('clerk')).toEqual({
      ...{ isOn: true, isRequired: false, isMissing: false, recoveryCodesLeft: 10 },
    });
    expect(await codesOf(gateway, { query: BEGIN, as: 'clerk' })).toEqual(['CONFLICT']);
  });

  it('is asked for after the right password alone', async () => {
    const { secret } = await switchOn('clerk');
    expect(codeOf(await logIn('clerk'))).toBe('SECOND_FACTOR_REQUIRED');
    expect(codeOf(await logIn('clerk', undefined, 'wrong'))).toBe('WRONG_LOGIN');
    expect(codeOf(await logIn('clerk', codeBy(secret), 'wrong'))).toBe('WRONG_LOGIN');
    expect((await logIn('clerk', codeBy(secret))).errors).toEqual([]);
  });

  it('takes no code twice, and none of another time', async () => {
    const { secret } = await switchOn('clerk');
    const code = codeBy(secret);
    const both = await Promise.all([logIn('clerk', code), logIn('clerk', code)]);
    expect(both.map(({ errors }) => errors.length).sort()).toEqual([0, 1]);
    await gateway.sql.query('delete from login_failures');
    expect(codeOf(await logIn('clerk', codeBy(secret, -4)))).toBe('SECOND_FACTOR_REQUIRED');
    expect(codeOf(await logIn('clerk', codeBy(secret, 4)))).toBe('SECOND_FACTOR_REQUIRED');
  });

  it.each([
    ['Devanagari', 0x0966],
    ['Arabic-Indic', 0x0660],
    ['extended Arabic-Indic', 0x06f0],
    ['Tamil', 0x0be6],
  ])('takes the digits of %s, with blanks between', async (_script, zero) => {
    const { secret } = await switchOn('clerk');
    const typed = [...codeBy(secret)].map((digit) => String.fromCodePoint(zero + Number(digit))).join(' ');
    expect((await logIn('clerk', ` ${typed} `)).errors).toEqual([]);
  });

  it('takes each recovery code once, however it is typed', async () => {
    const { recoveryCodes } = await switchOn('clerk');
    const [code = ''] = recoveryCodes;
    expect((await logIn('clerk', ` ${code.toLowerCase().replaceAll('-', ' ')}`)).errors).toEqual([]);
    expect(codeOf(await logIn('clerk', code))).toBe('SECOND_FACTOR_REQUIRED');
    expect((await state('clerk')).recoveryCodesLeft).toBe(9);
  });

  it('locks out who guesses codes, from every address', async () => {
    const { secret } = await switchOn('clerk');
    for (let tried = 0; tried < 4; tried += 1)
      expect(codeOf(await logIn('clerk', '000000'))).toBe('SECOND_FACTOR_REQUIRED');
    expect(codeOf(await logIn('clerk', codeBy(secret)))).toBe('TOO_MANY_REQUESTS');
    await gateway.sql.query(
      `delete from login_failures where key = (select key from login_failures order by last_at limit 1)`,
    );
    expect(codeOf(await logIn('clerk', codeBy(secret)))).toBe('TOO_MANY_REQUESTS');
  });

  it('works at the doors of REST and of pages too', async () => {
    const { secret } = await switchOn('clerk');
    const rest = async (path: string, code: string) => {
      const headers = { 'content-type': 'application/json', origin: gateway.url };
      const body = JSON.stringify({ user_name: 'clerk', password: PASSWORD, code });
      return (await gateway.fetch(path, { method: 'POST', headers, body })).status;
    };
    expect([await rest('/auth', ''), await rest('/auth/browser/login', '')]).toEqual([401, 401]);
    expect(await rest('/auth', codeBy(secret))).toBe(200);
    expect(await rest('/auth/browser/login', codeBy(secret, 1))).toBe(200);
  });

  it('is kept encrypted, and its recovery codes as hashes', async () => {
    const { secret, recoveryCodes } = await switchOn('clerk');
    const { rows } = await gateway.sql.query(`select
      (select string_agg(f::text, '') from second_factors f) as factors,
      (select string_agg(c::text, '') from recovery_codes c) as codes`);
    expect(rows[0].factors).not.toContain(secret);
    expect(rows[0].codes).not.toContain(recoveryCodes[0]);
  });

  it('is removed by a code, and by an admin for who has lost it', async () => {
    const { secret } = await switchOn('clerk');
    const remove = 'mutation ($c: String!) { removeSecondFactor(code: $c) }';
    expect(await codesOf(gateway, { query: remove, variables: { c: '000000' }, as: 'clerk' })).toEqual([
      'INVALID_VALUE',
    ]);
    expect(await codesOf(gateway, { query: remove, variables: { c: codeBy(secret) }, as: 'clerk' })).toEqual(
      [],
    );
    expect((await logIn('clerk')).errors).toEqual([]);
    await switchOn('clerk');
    const reset = { query: 'mutation { resetSecondFactor(userId: "usr-clerk") }' };
    expect(await codesOf(gateway, { ...reset, as: 'viewer' })).toEqual(['FORBIDDEN']);
    expect(await codesOf(gateway, { ...reset, as: 'admin' })).toEqual([]);
    expect((await logIn('clerk')).errors).toEqual([]);
  });

  it('gives other recovery codes by a code, after which those before are none', async () => {
    const { secret, recoveryCodes: before } = await switchOn('clerk');
    const renew = 'mutation ($c: String!) { renewRecoveryCodes(code: $c) }';
    const { renewRecoveryCodes: codes } = await ask(gateway, renew, {
      variables: { c: codeBy(secret) },
      as: 'clerk',
    });
    expect(new Set([...before, ...codes]).size).toBe(20);
    expect(codeOf(await logIn('clerk', before[1]))).toBe('SECOND_FACTOR_REQUIRED');
    expect((await logIn('clerk', codes[1])).errors).toEqual([]);
    const again = await ask(gateway, renew, { variables: { c: codes[0] }, as: 'clerk' });
    expect(again.renewRecoveryCodes).toHaveLength(10);
    expect(await codesOf(gateway, { query: renew, variables: { c: '1' }, as: 'teacher' })).toEqual([
      'NOT_FOUND',
    ]);
  });

  it('locks out who guesses codes with a session that was stolen', async () => {
    const { secret } = await switchOn('clerk');
    const guess = async (field: string, code: string) =>
      await codesOf(gateway, {
        query: `mutation ($c: String!) { ${field}(code: $c) }`,
        variables: { c: code },
        as: 'clerk',
      });
    for (const field of [
      'removeSecondFactor',
      'renewRecoveryCodes',
      'removeSecondFactor',
      'renewRecoveryCodes',
    ])
      expect([field, await guess(field, '000000')]).toEqual([field, ['INVALID_VALUE']]);
    expect(await guess('removeSecondFactor', codeBy(secret))).toEqual(['TOO_MANY_REQUESTS']);
    expect(await guess('renewRecoveryCodes', codeBy(secret))).toEqual(['TOO_MANY_REQUESTS']);
    expect(codeOf(await logIn('clerk', codeBy(secret)))).toBe('TOO_MANY_REQUESTS');
  });

  it('is not for API keys', async () => {
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "k", scopes: $s}) { key } }',
      { variables: { s: { collections: {}, reports: [], scripts: [] } } },
    );
    const headers = { authorization: `Bearer ${createApiKey.key}` };
    expect(await codesOf(gateway, { query: BEGIN, headers })).toEqual(['FORBIDDEN']);
  });
});

describe('where a role needs one', () => {
  it('who logs in without may log out', async () => {
    const { data } = await logIn('accountant');
    const headers = { authorization: `Bearer ${data.login.accessToken}` };
    expect((await send(gateway, { query: 'mutation { logout }', headers })).errors).toEqual([]);
    expect((await send(gateway, { query: '{ me { id } }', headers })).status).toBe(401);
  });

  it('who logs in without may do nothing but switch it on, and then everything', async () => {
    const { data } = await logIn('accountant');
    const headers = { authorization: `Bearer ${data.login.accessToken}` };
    const by = (query: string, variables: object = {}) => send(gateway, { query, variables, headers });
    expect((await by('{ me { roles duties collections { name } } }')).data.me).toEqual({
      ...{ roles: [], duties: [], collections: [] },
    });
    for (const query of [
      '{ feeReceipts { nodes { id } } }',
      'mutation { createTask(data: {name: "x"}) { id } }',
      'mutation { createApiKey(data: {name: "x", scopes: {}}) { key } }',
      '{ sessions { id } }',
      'mutation { changePassword(oldPassword: "correct horse", newPassword: "battery staple") }',
    ])
      expect([query, codeOf(await by(query))]).toEqual([query, 'FORBIDDEN']);
    for (const query of [
      '{ feeReceipts { nodes { id } } }',
      '{ messages { nodes { id } } }',
      'mutation { sendEmail(data: {to: ["a@example.org"], subject: "x", text: "x"}) { id } }',
    ])
      expect((await by(query)).errors[0]?.message).toContain('beginSecondFactor');
    expect((await by('{ secondFactor { isOn isRequired isMissing } }')).data.secondFactor).toEqual({
      ...{ isOn: false, isRequired: true, isMissing: true },
    });
    const { secret } = (await by(BEGIN)).data.beginSecondFactor;
    expect((await by(CONFIRM, { c: codeBy(secret, -1) })).errors).toEqual([]);
    expect((await by('{ me { roles } feeReceipts { nodes { id } } }')).data.me.roles).toEqual(['accountant']);
    const remove = await by('mutation ($c: String!) { removeSecondFactor(code: $c) }', { c: codeBy(secret) });
    expect(codeOf(remove)).toBe('CONFLICT');
    expect(codeOf(await logIn('accountant'))).toBe('SECOND_FACTOR_REQUIRED');
  });
});

it('what is done to a second factor stands in the audit trail', async () => {
  const { recoveryCodes } = await switchOn('clerk');
  const [code] = recoveryCodes;
  await ask(gateway, 'mutation ($c: String!) { renewRecoveryCodes(code: $c) }', {
    variables: { c: code },
    as: 'clerk',
  });
  const reset = 'mutation { resetSecondFactor(userId: "usr-clerk") }';
  await ask(gateway, reset);
  // There is none any more: nothing is done.
  await ask(gateway, reset);
  const { auditTrail } = await ask(
    gateway,
    '{ auditTrail(collection: "$secondFactor", recordId: "usr-clerk", first: 3) { operation principal } }',
  );
  expect(auditTrail).toEqual([
    { operation: 'deleted', principal: 'usr-admin' },
    { operation: 'rotated', principal: 'usr-clerk' },
    { operation: 'created', principal: 'usr-clerk' },
  ]);
});
