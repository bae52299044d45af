import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { parseKeyScopes, type ScopeNames } from '../../../src/services/auth/key-scopes.js';

const NAMES: ScopeNames = {
  isCollection: (name) => ['task', 'attendance'].includes(name),
  isReport: (name) => name === 'feeDefaulters',
};

describe('scopes of an API key', () => {
  it.each([
    [{}, { collections: {}, reports: [], scripts: [] }],
    [
      { collections: { task: ['delete', 'read', 'read'] } },
      { collections: { task: ['read', 'delete'] }, reports: [], scripts: [] },
    ],
    [
      { collections: { '*': ['*'] }, reports: ['*'], scripts: ['*'] },
      { collections: { '*': ['read', 'create', 'update', 'delete'] }, reports: ['*'], scripts: ['*'] },
    ],
    [
      { reports: ['feeDefaulters', 'feeDefaulters'], scripts: ['nightly.js'] },
      { collections: {}, reports: ['feeDefaulters'], scripts: ['nightly.js'] },
    ],
  ])('%j is understood', (written, scopes) => {
    expect(parseKeyScopes(written, NAMES)).toEqual(scopes);
  });

  it.each([
    [undefined, ['/scopes']],
    [null, ['/scopes']],
    ['*', ['/scopes']],
    [[], ['/scopes']],
    [{ admin: true }, ['/scopes/admin']],
    [{ 'a/b~c': [] }, ['/scopes/a~1b~0c']],
    [{ collections: ['task'] }, ['/scopes/collections']],
    [{ collections: { unknown: ['read'] } }, ['/scopes/collections/unknown']],
    [{ collections: { constructor: ['read'] } }, ['/scopes/collections/constructor']],
    [{ collections: { task: [] } }, ['/scopes/collections/task']],
    [{ collections: { task: 'read' } }, ['/scopes/collections/task']],
    [{ collections: { task: ['read', 'drop'] } }, ['/scopes/collections/task']],
    [{ collections: { task: ['read', '*'] } }, ['/scopes/collections/task']],
    [{ reports: ['feeDefaulters', 'no-such'] }, ['/scopes/reports/1']],
    [{ reports: '*' }, ['/scopes/reports']],
    [{ scripts: ['../secret'] }, ['/scopes/scripts/0']],
    [{ scripts: [7] }, ['/scopes/scripts/0']],
    [
      { collections: { x: ['read'], task: ['fly'] }, reports: 1 },
      ['/scopes/collections/x', '/scopes/collections/task', '/scopes/reports'],
    ],
  ])('%j is refused, every fault with its place', (written, pointers) => {
    const error = caught(() => parseKeyScopes(written, NAMES));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'INVALID_VALUE' });
    expect((error as ServiceError).errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });
});

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
