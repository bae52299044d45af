import { describe, expect, it } from '@jest/globals';
import { Passwords } from '../../src/auth/passwords.js';
import { CHEAP } from '../cheap-passwords.js';

const OTHER = { memoryKib: 128, passes: 1, lanes: 1 };

describe('passwords', () => {
  it.each([
    ['', 0],
    ['seven77', 7],
    ['x'.repeat(129), 129],
    // Four characters for a person, whatever their UTF-16 length.
    ['🎓🎓🎓🎓', 4],
  ])('refuses %j, and does not repeat it', async (password, length) => {
    const error = await failure(new Passwords({ cost: CHEAP }).hash(password));
    expect(error).toMatchObject({
      code: 'INVALID_VALUE',
      message: `A password has 8 to 128 characters; this one has ${length}.`,
    });
  });

  it('takes 8 and 128 characters', async () => {
    const passwords = new Passwords({ cost: CHEAP });
    await expect(passwords.hash('eight888')).resolves.toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
    await expect(passwords.hash('x'.repeat(128))).resolves.toMatch(/^\$argon2id\$/);
  });

  it('hashes with argon2id at 19 MiB and two passes', async () => {
    await expect(new Passwords().hash('correct horse')).resolves.toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
    );
  });

  it('never makes the same hash twice', async () => {
    const passwords = new Passwords({ cost: CHEAP });
    expect(await passwords.hash('correct horse')).not.toBe(await passwords.hash('correct horse'));
  });

  it('tells the right password from a wrong one', async () => {
    const passwords = new Passwords({ cost: CHEAP });
    const stored = await passwords.hash('correct horse');
    expect(await passwords.check(stored, 'correct horse')).toEqual({ isMatch: true, isOutdated: false });
    expect(await passwords.check(stored, 'correct horse ')).toEqual({ isMatch: false, isOutdated: false });
    expect(await passwords.check(stored, '')).toEqual({ isMatch: false, isOutdated: false });
  });

  it('knows a password whichever way its letters are composed', async () => {
    const passwords = new Passwords({ cost: CHEAP });
    const stored = await passwords.hash('cafe\u0301-cafe\u0301');
    expect(await passwords.check(stored, 'caf\u00e9-caf\u00e9')).toMatchObject({ isMatch: true });
  });

  it('calls a hash of another cost outdated, but only to who knows the password', async () => {
    const stored = await new Passwords({ cost: OTHER }).hash('correct horse');
    const passwords = new Passwords({ cost: CHEAP });
    expect(await passwords.check(stored, 'correct horse')).toEqual({ isMatch: true, isOutdated: true });
    expect(await passwords.check(stored, 'wrong horse')).toEqual({ isMatch: false, isOutdated: false });
  });

  it.each([
    undefined,
    '',
    'correct horse',
    '$argon2id$',
    '$2b$10$abcdefghijklmnopqrstuv',
    '$argon2i$v=19$m=64,t=1,p=1$YWJjZGVmZ2g$YWJjZGVmZ2g',
  ])('matches nothing against the stored text %j', async (stored) => {
    const passwords = new Passwords({ cost: CHEAP });
    expect(await passwords.check(stored, stored ?? 'anything')).toEqual({
      isMatch: false,
      isOutdated: false,
    });
  });

  it('takes as long without a user as with a wrong password', async () => {
    const passwords = new Passwords({ cost: { memoryKib: 1024, passes: 2, lanes: 1 } });
    const stored = await passwords.hash('correct horse');
    const [withUser = 0, withoutUser = 0] = await shortestMs([
      () => passwords.check(stored, 'wrong horse'),
      () => passwords.check(undefined, 'wrong horse'),
    ]);
    expect(withoutUser / withUser).toBeGreaterThan(0.5);
    expect(withoutUser / withUser).toBeLessThan(2);
  });
});

async function failure(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** The shortest of several runs of each work, taken in turn: the machine may be busy with something else. */
async function shortestMs(works: readonly (() => Promise<unknown>)[]): Promise<readonly number[]> {
  const shortest = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 50; round += 1) {
    for (const [index, work] of works.entries()) {
      const start = performance.now();
      await work();
      shortest[index] = Math.min(shortest[index] ?? 0, performance.now() - start);
    }
  }
  return shortest;
}
