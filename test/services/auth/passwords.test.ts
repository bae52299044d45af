import { describe, expect, it } from '@jest/globals';
import { Passwords } from '../../../src/services/auth/passwords.js';
import { CHEAP } from '../../cheap-passwords.js';

const OTHER = { memoryCost: 128, timeCost: 1, parallelism: 1 };

const OWNER = {
  ...{ userName: 'meena.iyer', name: 'Meena Iyer', email: 'meena@work.example' },
  domainName: 'Gyan Vidya School',
};

describe('passwords', () => {
  it.each([
    ['', 0],
    ['seven77', 7],
    ['x'.repeat(129), 129],
    // Four characters for a person, whatever their UTF-16 length.
    ['🎓🎓🎓🎓', 4],
  ])('refuses %j, and does not repeat it', async (password, length) => {
    const error = await failure(new Passwords({ cost: CHEAP }).hashChosen(password, OWNER));
    expect(error).toMatchObject({
      code: 'INVALID_VALUE',
      message: `A password has 8 to 128 characters; this one has ${length}.`,
    });
  });

  it('takes 8 and 128 characters', async () => {
    const passwords = new Passwords({ cost: CHEAP });
    const hashed = /^\$argon2id\$v=19\$m=64,t=1,p=1\$/;
    await expect(passwords.hashChosen('ochre tu', OWNER)).resolves.toMatch(hashed);
    await expect(passwords.hashChosen('ochre tulip kayak '.repeat(8).slice(16), OWNER)).resolves.toMatch(
      hashed,
    );
  });

  it('takes the least length from a setting', async () => {
    const passwords = new Passwords({ cost: CHEAP, shortest: 12 });
    const error = await failure(passwords.hashChosen('ochre tulip', OWNER));
    expect(error).toMatchObject({ message: 'A password has 12 to 128 characters; this one has 11.' });
  });

  it.each([
    ...[
      'password1',
      'PassWord',
      'Passw0rd!',
      'p@ssw0rd2026',
      '12345678',
      '１２３４５６７８',
      'sunshine99',
      '!iloveyou!',
    ],
    ...['Welcome@2026', 'admin-2026', 'Teacher#12', 'letmein1234'],
    ...['meena.iyer', 'Meena.Iyer12', 'MEENAIYER', 'iyer meena', 'xxmeenaiyer', 'M33n4Iyer1', 'gyanvidya1'],
    ...['GyanVidya2026', 'Gyan Vidya', 'meena@work.example', 'meena98765'],
    ...[
      'aaaaaaaa',
      '        ',
      'abababab',
      'abcabcabc',
      'abcdefgh',
      '98765432',
      'ममममममममम',
      'aab baab baab',
    ],
  ])('refuses %j, which is easy to guess, and does not repeat it', async (password) => {
    const error = await failure(new Passwords({ cost: CHEAP }).hashChosen(password, OWNER));
    expect(error).toMatchObject({ code: 'INVALID_VALUE', message: expect.stringMatching(/^This password /) });
    expect(String(error)).not.toContain(password);
  });

  it.each([
    ...['correct horse', 'battery staple', 'ochre-tulip-kayak', 'meena likes ochre tulips', 'Xk7#qZp2'],
    ...['बैंगनी पतंग उड़ी', '839201746520', 'password-ochre-tulip'],
  ])('takes %j', async (password) => {
    await expect(new Passwords({ cost: CHEAP }).hashChosen(password, OWNER)).resolves.toMatch(/^\$argon2id/);
  });

  it('refuses the present one', async () => {
    const passwords = new Passwords({ cost: CHEAP });
    const present = await passwords.hash('correct horse');
    const error = await failure(passwords.hashChosen('correct horse', OWNER, present));
    expect(error).toMatchObject({ message: 'This is the present password. Choose another.' });
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
    const passwords = new Passwords({ cost: { memoryCost: 1024, timeCost: 2, parallelism: 1 } });
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
