import { createHmac, generateKeyPairSync, sign as signWithKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type AccessClaims, AccessTokens } from '../../../src/services/auth/access-tokens.js';
import { parseTokenSecrets } from '../../../src/services/auth/service-secret.js';

const SECRET = 'a-secret-of-the-test-that-is-long-enough';
const OTHER_SECRET = 'another-secret-that-is-long-enough-as-well';
const NOW = 1_800_000_000;
const LATER = NOW + 3600;
const CLAIMS: AccessClaims = {
  userId: 'usr-admin',
  domainId: 'top',
  origin: { kind: 'session', id: '0190b7a4-0000-7000-8000-000000000001' },
  epoch: 3,
};
const GOOD_PAYLOAD = {
  iss: 'campus-gateway',
  aud: 'campus-gateway',
  sub: 'usr-admin',
  dom: 'top',
  sid: CLAIMS.origin.id,
  epoch: 3,
  iat: NOW,
  exp: 9_999_999_999,
};

const [HEADER = ''] = (await tokens().sign(CLAIMS, LATER)).split('.');

describe('access tokens', () => {
  it('say what they were signed with', async () => {
    expect(await tokens().verify(await tokens().sign(CLAIMS, LATER), NOW * 1000)).toEqual(CLAIMS);
  });

  it('say that they come from an API key', async () => {
    const claims: AccessClaims = { ...CLAIMS, origin: { kind: 'key', id: CLAIMS.origin.id } };
    expect(await tokens().verify(await tokens().sign(claims, LATER), NOW * 1000)).toEqual(claims);
  });

  it('are the token the forgeries below are made from', async () => {
    const { header, secret } = ownHeader();
    expect(await tokens().verify(hs256(header, GOOD_PAYLOAD, secret))).toEqual(CLAIMS);
  });

  describe('are refused', () => {
    it('when they have expired, also when they were seen before', async () => {
      const access = tokens();
      const token = await access.sign(CLAIMS, LATER);
      expect(await access.verify(token, LATER * 1000 - 1)).toEqual(CLAIMS);
      expect(await access.verify(token, LATER * 1000)).toBeUndefined();
      expect(
        await tokens().verify(await access.sign(CLAIMS, Math.floor(Date.now() / 1000) - 1)),
      ).toBeUndefined();
    });

    it.each(['none', 'None', 'NONE', 'nOnE'])('with alg %s', async (alg) => {
      const { header } = ownHeader();
      const unsigned = `${encode({ ...header, alg })}.${encode(GOOD_PAYLOAD)}.`;
      await expectRefused(unsigned);
      await expectRefused(`${encode({ alg, typ: 'JWT' })}.${encode(GOOD_PAYLOAD)}.`);
      const { secret } = ownHeader();
      await expectRefused(hs256({ ...header, alg }, GOOD_PAYLOAD, secret));
    });

    it('signed by another key', async () => {
      const { header } = ownHeader();
      await expectRefused(hs256(header, GOOD_PAYLOAD, Buffer.from(OTHER_SECRET)));
      await expectRefused(hs256(header, GOOD_PAYLOAD, Buffer.alloc(0)));
      await expectRefused(await tokens(OTHER_SECRET).sign(CLAIMS, LATER));
    });

    it('signed with RS256, whose public key anybody may know', async () => {
      const { header } = ownHeader();
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const input = `${encode({ ...header, alg: 'RS256' })}.${encode(GOOD_PAYLOAD)}`;
      await expectRefused(
        `${input}.${signWithKey('sha256', Buffer.from(input), privateKey).toString('base64url')}`,
      );
      const pem = publicKey.export({ type: 'spki', format: 'pem' });
      await expectRefused(hs256(header, GOOD_PAYLOAD, Buffer.from(pem)));
      await expectRefused(hs256({ ...header, alg: 'RS256' }, GOOD_PAYLOAD, ownHeader().secret));
    });

    it.each(['HS384', 'HS512'])('signed with our key by %s', async (alg) => {
      const { header, secret } = ownHeader();
      await expectRefused(hmac({ ...header, alg }, GOOD_PAYLOAD, secret, alg.replace('HS', 'sha')));
    });

    it('with another key id, or a key in the header', async () => {
      const { header, secret } = ownHeader();
      await expectRefused(hs256({ ...header, kid: 'another' }, GOOD_PAYLOAD, secret));
      await expectRefused(hs256({ ...header, kid: '../../dev/null' }, GOOD_PAYLOAD, secret));
      await expectRefused(hs256({ alg: 'HS256', typ: 'at+jwt' }, GOOD_PAYLOAD, secret));
      const jwk = { kty: 'oct', k: Buffer.from(OTHER_SECRET).toString('base64url') };
      await expectRefused(hs256({ ...header, jwk }, GOOD_PAYLOAD, Buffer.from(OTHER_SECRET)));
      await expectRefused(hs256({ ...header, crit: ['exp'] }, GOOD_PAYLOAD, secret));
    });

    it.each([
      { aud: 'another-service' },
      { aud: undefined },
      { iss: 'another-service' },
      { iss: undefined },
      { sub: undefined },
      { sub: '' },
      { sub: 7 },
      { dom: undefined },
      { exp: undefined },
      { exp: 'never' },
      { exp: 1 },
      { nbf: 9_999_999_998 },
      { iat: undefined },
      { epoch: undefined },
      { epoch: '3' },
      { sid: undefined },
      { sid: 'no-uuid' },
      { key: CLAIMS.origin.id },
    ])('signed by us, but saying %j', async (change) => {
      const { header, secret } = ownHeader();
      await expectRefused(hs256(header, { ...GOOD_PAYLOAD, ...change }, secret));
    });

    it('of another type, such as a token a script signed', async () => {
      const { header, secret } = ownHeader();
      await expectRefused(hs256({ ...header, typ: 'JWT' }, GOOD_PAYLOAD, secret));
    });

    it('with any character changed', async () => {
      const token = await tokens().sign(CLAIMS, LATER);
      for (let at = 0; at < token.length; at += 1) {
        const other = token[at] === 'A' ? 'B' : 'A';
        const changed = token.slice(0, at) + other + token.slice(at + 1);
        expect([at, await tokens().verify(changed, NOW * 1000)]).toEqual([at, undefined]);
      }
    });

    it.each(['', '.', '..', '...', 'a.b.c', 'null', ' ', '\0', 'é.é.é'])(
      'when they are %j',
      async (token) => {
        await expectRefused(token);
      },
    );

    it('with the bits set that a signature does not use', async () => {
      const token = await tokens().sign(CLAIMS, LATER);
      const last = Buffer.from(`AAA${token.at(-1)}`, 'base64url').at(-1) ?? 0;
      for (const bit of [1, 2, 3]) {
        const other = Buffer.from([0, 0, last | bit])
          .toString('base64url')
          .at(-1);
        expect(await tokens().verify(token.slice(0, -1) + other, NOW * 1000)).toBeUndefined();
      }
    });

    it('of any other length', async () => {
      await expectRefused('x'.repeat(100_000));
      await expectRefused(`${await tokens().sign(CLAIMS, LATER)}${'A'.repeat(100_000)}`);
    });

    it('cut, extended or with white space around', async () => {
      const token = await tokens().sign(CLAIMS, LATER);
      for (const changed of [
        token.slice(0, -1),
        `${token}A`,
        ` ${token}`,
        `${token} `,
        `${token}\n`,
        `${token}.`,
        `${token}=`,
      ])
        expect(await tokens().verify(changed, NOW * 1000)).toBeUndefined();
    });
  });

  it('are verified by every key and signed by the first, so that keys can rotate', async () => {
    const before = await tokens(SECRET).sign(CLAIMS, LATER);
    const rotating = tokens(`${OTHER_SECRET} ${SECRET}`);
    expect(await rotating.verify(before, NOW * 1000)).toEqual(CLAIMS);
    const after = await rotating.sign(CLAIMS, LATER);
    expect(await tokens(OTHER_SECRET).verify(after, NOW * 1000)).toEqual(CLAIMS);
    expect(await tokens(SECRET).verify(after, NOW * 1000)).toBeUndefined();
  });

  it('are remembered up to a bound, and refused ones never', async () => {
    const access = new AccessTokens({ keys: parseTokenSecrets(SECRET), cacheSize: 10 });
    for (let epoch = 0; epoch < 50; epoch += 1)
      await access.verify(await access.sign({ ...CLAIMS, epoch }, LATER), NOW * 1000);
    expect(access.remembered).toBe(10);
    const empty = new AccessTokens({ keys: parseTokenSecrets(SECRET), cacheSize: 10 });
    for (let epoch = 0; epoch < 50; epoch += 1)
      await empty.verify(await tokens(OTHER_SECRET).sign({ ...CLAIMS, epoch }, LATER), NOW * 1000);
    expect(empty.remembered).toBe(0);
  });

  it('refuse a secret that can be guessed', () => {
    expect(() => parseTokenSecrets('short')).toThrow(/fewer than 32 characters/);
    expect(() => parseTokenSecrets(`${SECRET} short`)).toThrow(/fewer than 32 characters/);
    expect(() => parseTokenSecrets('  ')).toThrow(/no secret/);
  });
});

function tokens(secrets: string = SECRET): AccessTokens {
  return new AccessTokens({ keys: parseTokenSecrets(secrets) });
}

async function expectRefused(token: string): Promise<void> {
  expect(await tokens().verify(token)).toBeUndefined();
}

/** What an attacker knows, and what only the service knows. */
function ownHeader(): { header: Record<string, unknown>; secret: Buffer } {
  return { header: JSON.parse(Buffer.from(HEADER, 'base64url').toString()), secret: Buffer.from(SECRET) };
}

function hs256(header: object, payload: object, secret: Buffer): string {
  return hmac(header, payload, secret, 'sha256');
}

function hmac(header: object, payload: object, secret: Buffer, hash: string): string {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
