import { describe, expect, it } from '@jest/globals';
import { credentialName, type KeyScopes, type Principal } from '../../../src/base/model/scope.js';
import { intersectScopes, narrowPrincipal } from '../../../src/services/auth/key-scopes.js';

const scopes = (
  collections: KeyScopes['collections'],
  reports: string[] = [],
  scripts: string[] = [],
): KeyScopes => ({ collections, reports, scripts });

describe('what two scopes allow together', () => {
  it.each<[string, KeyScopes, KeyScopes, KeyScopes]>([
    [
      'the verbs of both',
      scopes({ task: ['read', 'create'] }),
      scopes({ task: ['read', 'delete'] }),
      scopes({ task: ['read'] }),
    ],
    [
      'a name under *',
      scopes({ '*': ['read'] }),
      scopes({ task: ['read', 'create'] }),
      scopes({ task: ['read'] }),
    ],
    ['* under *', scopes({ '*': ['read', 'create'] }), scopes({ '*': ['read'] }), scopes({ '*': ['read'] })],
    [
      'a name beside *',
      scopes({ '*': ['read'], task: ['create'] }),
      scopes({ '*': ['read', 'create'] }),
      scopes({ '*': ['read'], task: ['create', 'read'] }),
    ],
    ['nothing of what one leaves out', scopes({ task: ['read'] }), scopes({ note: ['read'] }), scopes({})],
    [
      'reports and scripts of both',
      scopes({}, ['*'], ['a', 'b']),
      scopes({}, ['x'], ['b', 'c']),
      scopes({}, ['x'], ['b']),
    ],
    ['nothing of names every object has', scopes({ '*': ['read'] }), scopes({}), scopes({})],
  ])('is %s', (_name, one, other, expected) => {
    expect(intersectScopes(one, other)).toEqual(expected);
    expect(intersectScopes(other, one).reports).toEqual(expected.reports);
  });
});

describe('a narrowed principal', () => {
  const principal: Principal = {
    kind: 'user',
    id: 'u',
    userName: 'u',
    domainId: 'top',
    roles: new Set(['clerk', 'teacher']),
    credential: { kind: 'token', id: 's' },
    scopes: undefined,
    attributes: {},
  };

  it('has the roles both have, so none it lost meanwhile', () => {
    const narrowed = narrowPrincipal(principal, {
      roles: ['teacher', 'admin'],
      scopes: scopes({}),
      part: 'p',
    });
    expect([...narrowed.roles]).toEqual(['teacher']);
    expect(narrowed.scopes).toEqual(scopes({}));
  });

  it('is another credential than the whole, and than other parts, of the same session', () => {
    const part = (name: string) => narrowPrincipal(principal, { roles: [], scopes: scopes({}), part: name });
    const names = [principal, part('p'), part('q')].map(({ credential }) => credentialName(credential));
    expect(names).toEqual(['token:s', 'token:s/p', 'token:s/q']);
  });

  it('keeps to the scopes of its key as well', () => {
    const ofKey = { ...principal, scopes: scopes({ task: ['read'] }) };
    expect(
      narrowPrincipal(ofKey, { roles: [], scopes: scopes({ '*': ['read'] }), part: 'p' }).scopes,
    ).toEqual(scopes({ task: ['read'] }));
  });
});
