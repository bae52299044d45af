import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../../src/base/errors.js';
import { parseScript } from '../../../../src/services/scripting/library/script.js';

const LIMITS = { maxCodeBytes: 100 };
const LEAST = { name: 'fee-reminder', code: 'export default 1' };

function faultsOf(sent: unknown): readonly (string | undefined)[] {
  try {
    parseScript(sent, LIMITS);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('INVALID_VALUE');
    return (error.errors ?? []).map(({ pointer }) => pointer);
  }
  throw new Error('it was accepted');
}

describe('a script', () => {
  it('needs a name and code alone', () => {
    expect(parseScript(LEAST, LIMITS)).toEqual({
      ...LEAST,
      description: '',
      isEnabled: true,
      roles: [],
      serviceRoles: undefined,
      before: [],
      after: [],
      schedule: undefined,
      topics: [],
      endpoint: undefined,
    });
  });

  it('takes all that starts it', () => {
    const starts = {
      serviceRoles: ['clerk'],
      before: [{ collection: 'registration', operations: ['create'] }],
      after: [{ collection: 'attendance', operations: ['create', 'update'] }],
      schedule: '30 20 * * 1-5',
      topics: ['bus/late'],
      endpoint: { access: 'public', methods: ['GET'] },
    };
    expect(parseScript({ ...LEAST, ...starts }, LIMITS)).toMatchObject(starts);
  });

  it('answers GET and POST where its endpoint names no methods', () => {
    expect(parseScript({ ...LEAST, endpoint: { access: 'caller' } }, LIMITS).endpoint).toEqual({
      access: 'caller',
      methods: ['GET', 'POST'],
    });
  });

  it.each([
    ['no object', 5, ['']],
    ['a name with a space', { ...LEAST, name: 'fee reminder' }, ['/name']],
    ['a name that begins with a digit', { ...LEAST, name: '1st' }, ['/name']],
    ['no code', { name: 'a' }, ['/code']],
    ['more code than the limit', { ...LEAST, code: 'x'.repeat(101) }, ['/code']],
    ['a character no text column holds', { ...LEAST, code: 'a\0b' }, ['/code']],
    ['an unknown member', { ...LEAST, cron: '* * * * *' }, ['/cron']],
    [
      'an unknown write',
      { ...LEAST, before: [{ collection: 'a', operations: ['drop'] }] },
      ['/before/0/operations/0'],
    ],
    ['no writes', { ...LEAST, before: [{ collection: 'a', operations: [] }] }, ['/before/0/operations']],
    ['a schedule of six fields', { ...LEAST, serviceRoles: ['a'], schedule: '0 0 20 * * *' }, ['/schedule']],
    [
      'a schedule without a minute',
      { ...LEAST, serviceRoles: ['a'], schedule: '61 20 * * *' },
      ['/schedule'],
    ],
    ['a day that never comes', { ...LEAST, serviceRoles: ['a'], schedule: '0 0 31 2 *' }, ['/schedule']],
    ['empty service roles', { ...LEAST, serviceRoles: [] }, ['/serviceRoles']],
    ['an unknown access', { ...LEAST, endpoint: { access: 'all' } }, ['/endpoint/access']],
  ])('is refused with %s', (_, sent, pointers) => {
    expect(faultsOf(sent)).toEqual(pointers);
  });

  it.each([
    ['a schedule', { schedule: '0 20 * * *' }],
    ['an after-trigger', { after: [{ collection: 'task', operations: ['create'] }] }],
    ['a topic', { topics: ['bus'] }],
    ['a public endpoint', { endpoint: { access: 'public' } }],
  ])('needs roles of its own with %s, where nobody calls', (_, start) => {
    expect(faultsOf({ ...LEAST, ...start })).toEqual(['/serviceRoles']);
    expect(parseScript({ ...LEAST, ...start, serviceRoles: ['clerk'] }, LIMITS).serviceRoles).toEqual([
      'clerk',
    ]);
  });
});
