import { describe, expect, it } from '@jest/globals';
import { systemPrincipal } from '../../../src/base/model/scope.js';
import { accessOf, assertReadable } from '../../../src/store/access/access.js';
import { ADMIN, collectionOf, NOTE, type Person, STAFF, STUDENT, scopeOf, TOP } from '../people.js';

const student = collectionOf(STUDENT);

function expectForbidden(person: Person, verb: 'read' | 'create' | 'update' | 'delete', message = '') {
  expect(() => accessOf(scopeOf(person), student, verb)).toThrow(
    expect.objectContaining({ code: 'FORBIDDEN', status: 403, message: expect.stringContaining(message) }),
  );
}

describe('access is refused', () => {
  it('to a role without an entry, naming the roles that have one', () => {
    expectForbidden({ roles: ['accountant'] }, 'create', 'admin, clerk, teacher, writer');
  });

  it('to a caller without a role', () => {
    expectForbidden({ roles: [] }, 'read');
  });

  it('for a verb the entry does not have', () => {
    expectForbidden({ roles: ['viewer'] }, 'delete');
  });

  it('to everybody but admins where a collection says nothing', () => {
    const note = collectionOf(NOTE);
    expect(() => accessOf(scopeOf({ roles: ['clerk'] }), note, 'read')).toThrow('admin');
    expect(accessOf(ADMIN, note, 'read').rows).toBeUndefined();
  });

  it('to an admin where the collection limits admins', () => {
    const strict = collectionOf({ ...STUDENT, access: { admin: { verbs: ['read'] } } });
    expect(() => accessOf(ADMIN, strict, 'update')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });

  it('to a key outside its scopes, whatever its user may', () => {
    const scopes = {
      collections: { student: ['read' as const], staff: ['create' as const] },
      reports: [],
      scripts: [],
    };
    expectForbidden({ roles: ['admin'], scopes }, 'create', 'scopes');
    expectForbidden({ roles: ['viewer'], scopes: { ...scopes, collections: {} } }, 'read', 'scopes');
  });

  it('to a key whose scopes include more than its user may', () => {
    const scopes = { collections: { '*': ['read' as const, 'delete' as const] }, reports: [], scripts: [] };
    expectForbidden({ roles: ['viewer'], scopes }, 'delete', 'roles');
    expect(accessOf(scopeOf({ roles: ['viewer'], scopes }), student, 'read').hiddenFields).toEqual(
      new Set(['fee', 'phone']),
    );
  });

  it('to a key whose scopes name a member of Object', () => {
    const scopes = { collections: {}, reports: [], scripts: [] };
    const odd = collectionOf({ name: 'constructor' });
    expect(() => accessOf(scopeOf({ roles: ['admin'], scopes }), odd, 'read')).toThrow('scopes');
  });

  it('to a task of the service without the role', () => {
    const scope = { domain: TOP, principal: systemPrincipal('sweep', ['system']), call: { requestId: 'r' } };
    expect(() => accessOf(scope, student, 'read')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });
});

describe('several roles', () => {
  it('show what one of them shows in every row', () => {
    expect(accessOf(scopeOf({ roles: ['viewer', 'clerk'] }), student, 'read').hiddenFields).toEqual(
      new Set(['fee']),
    );
    expect(accessOf(scopeOf({ roles: ['viewer', 'reader_of_all'] }), student, 'read').hiddenFields).toEqual(
      new Set(),
    );
  });

  it('do not show in all rows what one of them shows in some', () => {
    // A teacher sees phones of the sections taught, a viewer sees everybody without phones.
    const access = accessOf(scopeOf({ roles: ['viewer', 'teacher'] }), student, 'read');
    expect(access.rows).toBeUndefined();
    expect(access.hiddenFields).toEqual(new Set(['fee', 'phone']));
  });

  it('count only where they have the verb', () => {
    expect(
      accessOf(scopeOf({ roles: ['reader_of_all', 'clerk'] }), student, 'update').readOnlyFields,
    ).toEqual(new Set(['fee', 'status']));
  });
});

describe('row rules', () => {
  it('reach nothing without the attribute', () => {
    expect(accessOf(scopeOf({ roles: ['teacher'] }), student, 'read').rows).toEqual({
      kind: 'any',
      filters: [],
    });
  });

  it('take the values of a record together', () => {
    const teacher = scopeOf({
      roles: ['teacher'],
      attributes: {
        sectionsTaught: [
          ['5', 'A'],
          ['6', 'B'],
        ],
      },
    });
    expect(accessOf(teacher, student, 'read').rows).toEqual({
      kind: 'any',
      filters: [
        {
          kind: 'all',
          filters: [
            { kind: 'equals', path: ['class'], value: '5' },
            { kind: 'equals', path: ['section'], value: 'A' },
          ],
        },
        {
          kind: 'all',
          filters: [
            { kind: 'equals', path: ['class'], value: '6' },
            { kind: 'equals', path: ['section'], value: 'B' },
          ],
        },
      ],
    });
  });

  it('reach nothing by an attribute that is too short or holds null', () => {
    const teacher = scopeOf({ roles: ['teacher'], attributes: { sectionsTaught: [['5'], ['5', null], []] } });
    expect(accessOf(teacher, student, 'read').rows).toEqual({ kind: 'any', filters: [] });
  });

  it('let a caller read more than it changes, by its roles', () => {
    const board = collectionOf({
      name: 'board',
      fields: [
        { name: 'owner', type: 'text' },
        { name: 'shared_with', type: 'text', list: true },
      ],
      access: {
        clerk: {
          verbs: ['read', 'update'],
          rows: { fields: ['owner'], attribute: 'self' },
          alsoReads: [{ fields: ['shared_with'], attribute: 'roles' }],
        },
      },
    });
    const clerk = scopeOf({ id: 'usr-7', roles: ['clerk', 'porter'] });
    const own = { kind: 'all', filters: [{ kind: 'equals', path: ['owner'], value: 'usr-7' }] };
    const sharedWith = (value: string) => ({
      kind: 'all',
      filters: [{ kind: 'equals', path: ['shared_with'], value }],
    });
    expect(accessOf(clerk, board, 'read').rows).toEqual({
      kind: 'any',
      filters: [own, { kind: 'any', filters: [sharedWith('clerk'), sharedWith('porter')] }],
    });
    expect(accessOf(clerk, board, 'update').rows).toEqual(own);
  });

  it('of a role that reads more by them do not show what that role hides', () => {
    const own = { fields: ['owner'], attribute: 'self' };
    const board = collectionOf({
      name: 'board',
      fields: [
        { name: 'owner', type: 'text' },
        { name: 'note', type: 'text' },
      ],
      access: {
        clerk: { verbs: ['read'], rows: own },
        porter: {
          verbs: ['read'],
          hiddenFields: ['note'],
          rows: own,
          alsoReads: [{ fields: ['owner'], attribute: 'roles' }],
        },
      },
    });
    const both = scopeOf({ id: 'usr-7', roles: ['clerk', 'porter'] });
    expect(accessOf(both, board, 'read').hiddenFields).toEqual(new Set(['note']));
  });

  it('know the caller as self', () => {
    const access = accessOf(scopeOf({ id: 'usr-7', roles: ['teacher'] }), collectionOf(STAFF), 'read');
    expect(access.rows).toEqual({
      kind: 'all',
      filters: [{ kind: 'equals', path: ['_id'], value: 'usr-7' }],
    });
  });
});

describe('a hidden field', () => {
  const access = accessOf(scopeOf({ roles: ['viewer'] }), student, 'read');

  it('is refused by name, also below it', () => {
    for (const path of [['phone'], ['phone', 'x'], ['fee']]) {
      expect(() => assertReadable([['name'], path], access, student)).toThrow(
        expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining(`"${path[0]}"`) }),
      );
    }
  });

  it('is no other field of that name further down', () => {
    expect(() => assertReadable([['guardian', 'phone']], access, student)).not.toThrow();
  });
});
