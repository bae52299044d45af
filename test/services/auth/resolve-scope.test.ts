import { describe, expect, it } from '@jest/globals';
import type { Domain, Principal } from '../../../src/base/model/scope.js';
import { resolveScope } from '../../../src/services/auth/resolve-scope.js';

const TOP: Domain = { id: 'top', name: 'Top', parentId: undefined, timeZone: 'Asia/Kolkata' };
const NORTH: Domain = { id: 'north', name: 'North', parentId: 'top', timeZone: 'Asia/Kolkata' };
const SOUTH: Domain = { id: 'south', name: 'South', parentId: 'top', timeZone: 'Asia/Kolkata' };
const OTHER_TOP: Domain = { ...TOP, id: 'other', name: 'Other' };
const DOMAINS = {
  find: (id: string) => [TOP, NORTH, SOUTH, OTHER_TOP].find((domain) => domain.id === id),
};

describe('the domain of a request', () => {
  it.each([undefined, '', ' ', 'north', ' north '])(
    'is that of the credential with X-Domain %j',
    (header) => {
      expect(domainOf(caller('north', 'viewer'), header)).toBe('north');
    },
  );

  it.each(['north', 'south'])('is %s when an admin of the top domain says so', (header) => {
    expect(domainOf(caller('top', 'admin'), header)).toBe(header);
  });

  it.each([
    ['a teacher of the top domain', caller('top', 'teacher')],
    ['a caller without roles', caller('top')],
    ['someone whose role only looks like admin', caller('top', 'Admin', 'administrator', 'admin ')],
    ['an admin of a sub-domain', caller('north', 'admin')],
  ])('is not for %s to choose, and nobody learns which domains there are', (_, principal) => {
    for (const header of [
      principal.domainId === 'top' ? 'north' : 'top',
      'south',
      'nowhere',
      '__proto__',
      '*',
    ])
      expect([header, codeOf(principal, header)]).toEqual([header, 'FORBIDDEN']);
  });

  it('is unknown to the admin of the top domain too when there is none', () => {
    expect(codeOf(caller('top', 'admin'), 'nowhere')).toBe('NOT_FOUND');
    expect(codeOf(caller('top', 'admin'), 'other')).toBe('NOT_FOUND');
    expect(codeOf(caller('other', 'admin'), 'north')).toBe('NOT_FOUND');
  });

  it('is gone for a credential of a domain that is gone', () => {
    expect(codeOf(caller('closed', 'admin'), undefined)).toBe('UNAUTHENTICATED');
    expect(codeOf(caller('closed', 'admin'), 'top')).toBe('UNAUTHENTICATED');
  });

  it('comes with the caller, the request and its end', () => {
    const principal = caller('north', 'viewer');
    const { signal } = new AbortController();
    expect(
      resolveScope(DOMAINS, {
        principal,
        askedDomain: undefined,
        requestId: 'r-1',
        lifecycle: { signal, releasePermit: () => {}, notes: { hint: () => {}, noteWritten: () => {} } },
      }),
    ).toMatchObject({
      domain: NORTH,
      principal,
      call: { requestId: 'r-1', signal },
    });
  });
});

function caller(domainId: string, ...roles: readonly string[]): Principal {
  return {
    kind: 'user',
    id: 'usr-1',
    userName: 'one',
    domainId,
    roles: new Set(roles),
    credential: { kind: 'token', id: 's-1' },
    scopes: undefined,
    attributes: {},
  };
}

function domainOf(principal: Principal, askedDomain: string | undefined): string {
  return resolveScope(DOMAINS, { principal, askedDomain, requestId: 'r-1' }).domain.id;
}

function codeOf(principal: Principal, askedDomain: string | undefined): unknown {
  try {
    return domainOf(principal, askedDomain);
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}
