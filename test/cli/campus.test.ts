import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { freePort } from '../free-port.js';
import { campus as campusAlone, type Ended, startCampus, startShell } from './campus.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

function run(words: string, input = ''): Promise<Ended> {
  return campus(words.split(' '), { environment: { DATABASE_URL: database.url }, input });
}

async function expectRefusal(words: string, text: string | RegExp): Promise<void> {
  const { code, output, errors } = await run(words);
  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors).toMatch(text);
  expect(errors).not.toMatch(/\n\s+at /);
}

describe('campus', () => {
  it.each(['', 'migrate apply', 'seed', 'user add', 'key create'])(
    '%s --help says what it does',
    async (command) => {
      const { code, output } = await campus([...command.split(' ').filter((word) => word !== ''), '--help']);
      expect(code).toBe(0);
      expect(output).toMatch(/^Usage: campus/);
    },
  );

  it('refuses a command it does not know, and suggests one', () =>
    expectRefusal('strat', /unknown command 'strat'[\s\S]*start/));
  it('refuses an option it does not know', () =>
    expectRefusal('seed --pupils 5', /unknown option '--pupils'/));
  it('refuses a number that is none', () => expectRefusal('seed --students many', /whole number/));
  it('names a setting that cannot be used', async () => {
    const { code, errors } = await campus(['start'], { environment: { PORT: 'http' } });
    expect(code).toBe(1);
    expect(errors).toMatch(/PORT: /);
  });
  it('says in one line that Node.js is too old, whatever the command', async () => {
    const older = `Object.defineProperty(process.versions, 'node', { value: '20.18.3' })`;
    const NODE_OPTIONS = `--import "data:text/javascript,${encodeURIComponent(older)}"`;
    const { code, output, errors } = await campusAlone(['start'], { environment: { NODE_OPTIONS } });
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(
      /^campus: Node\.js 20\.19\.0 or later is needed; this is 20\.18\.3, in .*node.*\.\n$/,
    );
  });
  it.each([
    ['a database out of reach', 'postgresql://nobody:secret@127.0.0.1:1/none'],
    ['a host that is none', 'postgresql://nobody:secret@no-such-host.invalid/none'],
  ])('says in one line, without the password, that %s is', async (_, DATABASE_URL) => {
    const { code, errors } = await campus(['start'], { environment: { DATABASE_URL } });
    expect(code).toBe(1);
    expect(errors.trim().split('\n')).toHaveLength(1);
    expect(errors).not.toContain('secret');
  });
});

describe('campus, from an empty database on', () => {
  it('shows and applies migrations', async () => {
    expect((await run('migrate status')).output).toMatch(/0001_\w+ +applied/);
    expect(await run('migrate apply')).toMatchObject({ code: 0, output: 'nothing to apply\n' });
  });

  it('says what to do while there is no school', () => expectRefusal('user list', /campus domain add/));

  it('adds the school and a branch', async () => {
    expect(await run('domain add gyan --name Gyan --timezone Asia/Kathmandu')).toMatchObject({ code: 0 });
    expect(await run('domain add gyan-north --name North')).toMatchObject({ code: 0 });
    const { output } = await run('domain list');
    expect(output).toMatch(/gyan +Gyan +Asia\/Kathmandu/);
    expect(output).toMatch(/gyan-north +North +gyan +Asia\/Kathmandu/);
  });

  it('adds no domain with a time zone that is none', async () => {
    await expectRefusal('domain add gyan-south --name South --timezone +05:30', /time zone/);
    expect((await run('domain list')).output).not.toContain('gyan-south');
  });

  it('refuses a domain twice', () => expectRefusal('domain add gyan --name Again', /gyan/));

  it('sets and shows properties', async () => {
    expect(await run('property set weeklyOffs ["SU","SA"]')).toMatchObject({ code: 0 });
    expect((await run('property list --domain gyan-north')).output).toMatch(
      /weeklyOffs +\["SU","SA"\] +the top domain/,
    );
  });

  it('refuses a time zone that is none', () =>
    expectRefusal('property set timezone Asia/Nowhere', /time zone/));

  it('adds a user with a password that is typed, or one that is made', async () => {
    const typed = await run('user add asha --name Asha --role teacher', 'a long password\n');
    expect(typed).toMatchObject({ code: 0 });
    expect(typed.output).not.toMatch(/password/);
    expect((await run('user add ravi --name Ravi --role admin clerk')).output).toMatch(
      /^password: \S{12,}$/m,
    );
    expect((await run('user list')).output).toMatch(/ravi +Ravi +admin, clerk +yes +yes/);
  });

  it('refuses a short password', async () => {
    const { code, errors } = await run('user passwd asha', 'short\n');
    expect(code).toBe(1);
    expect(errors).toMatch(/8/);
  });

  it('refuses a user name twice, and one nobody has', async () => {
    await expectRefusal('user add asha --name Other --role clerk', /user_name/);
    await expectRefusal('user passwd nobody', /nobody/);
  });

  it('creates a key, lists and revokes it', async () => {
    const created = await run('key create reader --user ravi --collection task:read *:read --report *');
    expect(created.output).toMatch(/^key: cg_\S+$/m);
    const id = /^id: +(\S+)$/m.exec(created.output)?.[1] ?? '';
    expect((await run('key list')).output).toMatch(new RegExp(`${id} +reader .* good`));
    expect(await run(`key revoke ${id}`)).toMatchObject({ code: 0 });
    expect((await run('key list')).output).toMatch(new RegExp(`${id} +reader .* revoked`));
  });

  it('refuses a key with a verb that is none, or for nobody', async () => {
    await expectRefusal('key create bad --user ravi --collection task:peek', /peek/);
    await expectRefusal('key create bad --user ravi --collection task', /task:|<verb>/);
    await expectRefusal('key create bad --user nobody --collection task:read', /nobody/);
    await expectRefusal('key create bad --user ravi --expires soon', /soon/);
  });

  it('lists collections and shows one', async () => {
    expect((await run('collection list')).output).toMatch(/fee_receipt +Fee receipts/);
    const { output } = await run('collection show attendance');
    expect(output).toMatch(/status +text +required, one of present, absent/);
    expect(output).toMatch(/teacher +read, create, update .*class, section in sectionsTaught/);
  });

  it('suggests the collection that was meant', () =>
    expectRefusal('collection show atendance', /Did you mean "attendance"/));

  it('lists for programs what it lists for people', async () => {
    const listed = async (words: string) => JSON.parse((await run(`${words} --json`)).output);
    expect(await listed('domain list')).toContainEqual({
      ...{ id: 'gyan-north', name: 'North', timeZone: 'Asia/Kathmandu', parentId: 'gyan' },
    });
    expect(await listed('property list --domain gyan-north')).toContainEqual({
      ...{ name: 'weeklyOffs', value: ['SU', 'SA'], isSecret: false, isInherited: true },
    });
    expect(await listed('user list')).toContainEqual(
      expect.objectContaining({ userName: 'ravi', roles: ['admin', 'clerk'], lastLoginAt: null }),
    );
    const [key] = await listed('key list');
    expect(key).toMatchObject({ name: 'reader', scopes: { reports: ['*'] }, expiresAt: null });
    expect(key.revokedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(JSON.stringify(key)).not.toMatch(/hash/i);
    expect(await listed('migrate status')).toContainEqual({
      name: expect.stringMatching(/^0001_/),
      state: 'applied',
    });
    expect(await listed('collection list')).toContainEqual(
      expect.objectContaining({ name: 'fee_receipt', isDeclared: true, domainId: null }),
    );
    expect(await listed('message list')).toEqual([]);
    expect(await listed('script list')).toEqual([]);
  });

  it('refuses to seed the demo school into another', () => expectRefusal('seed --students 30', /gyan/));
});

describe('campus start', () => {
  beforeAll(() => run('user add bela --name Bela --role bursar', 'a long password\n'));

  it('serves until a signal, though nobody takes its traces, and logs a JSON object a line', async () => {
    const gateway = startGateway({
      ...{ WORKERS: '2', LOG_LEVEL: 'info', HOST: '127.0.0.1' },
      ...{ SECOND_FACTOR_ROLES: 'bursar, acountant', API_KEY_ROLES: '*', EMAIL_ROLES: 'bursor' },
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    });
    expect((await fetch(`${await gateway.url}/readyz`)).status).toBe(200);
    expect(await gateway.stop()).toBe(0);
    const lines = gateway.output().trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line).event);
    expect(events).toEqual(expect.arrayContaining(['listening', 'requestEnded', 'stopped']));
    // The roles of its settings that nobody has.
    expect(gateway.errors().match(/^campus: .*/gm)).toEqual([
      'campus: SECOND_FACTOR_ROLES names the role "acountant", which no collection declares and no user ' +
        'has. Did you mean "accountant"?',
      'campus: EMAIL_ROLES names the role "bursor", which no collection declares and no user has.',
    ]);
  });

  it.each(['true', 'false'])('names a setting whose file is not there (in force: %s)', async (isInForce) => {
    const environment = {
      ...{ DATABASE_URL: database.url, PORT: '0', REGISTERED_OPERATIONS: '/nowhere' },
      REGISTERED_OPERATIONS_ONLY: isInForce,
    };
    expect(await campus(['start'], { environment })).toEqual({
      code: 1,
      output: '',
      errors:
        'campus: settings that cannot be used\n' +
        'REGISTERED_OPERATIONS: there is no file or folder /nowhere\n',
    });
  });

  it.each([
    ['a reader that has gone takes', 'SIGINT', 'exec "$0" "$1" start > >(head -c 1 > /dev/null)'],
    ['a reader that reads no more takes', 'SIGTERM', 'exec "$0" "$1" start > >(sleep 30)'],
  ] as const)('serves and stops whatever %s of its log (%s)', async (_what, signal, command) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const gateway = startShell(command, {
      DATABASE_URL: database.url,
      LOG_LEVEL: 'info',
      PORT: new URL(url).port,
    });
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    await expect(untilReady(url)).resolves.toBe(200);
    const path = `/healthz?${'a'.repeat(4000)}`;
    for (let time = 0; time < 50; time += 1) expect((await fetch(`${url}${path}`)).status).toBe(200);
    gateway.kill(signal);
    expect(await ended).toBe(0);
  });
});

interface RunningGateway {
  /** Its address, once it has said it. */
  readonly url: Promise<string>;
  readonly output: () => string;
  readonly errors: () => string;
  readonly stop: () => Promise<number | null>;
}

/** `campus start` on the database of these tests. */
function startGateway(settings: Readonly<Record<string, string>> = {}): RunningGateway {
  const child = startCampus(['start'], { DATABASE_URL: database.url, PORT: '0', ...settings });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const said = { output: '', errors: '' };
  child.stdout.on('data', (chunk) => {
    said.output += String(chunk);
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said.errors += String(chunk);
      const [found] = /http:\/\/localhost:\d+/.exec(said.errors) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(`it ended: ${said.errors}`)));
  });
  return {
    url,
    output: () => said.output,
    errors: () => said.errors,
    stop: () => {
      child.kill('SIGTERM');
      return closed;
    },
  };
}

describe('campus seed', () => {
  it('makes the demo school and its logins', async () => {
    const empty = await createTestDatabase();
    try {
      const environment = { DATABASE_URL: empty.url };
      const seeded = await campus(['seed', '--students', '36', '--today', '2026-07-15'], { environment });
      expect(seeded).toMatchObject({
        code: 0,
        output: expect.stringMatching(/records in demo and demo-north/),
      });
      const users = await campus(['user', 'list'], { environment });
      for (const name of ['admin', 'accountant', 'teacher', 'clerk', 'viewer']) {
        expect(users.output).toMatch(new RegExp(`^${name} .* yes +yes`, 'm'));
      }
      expect((await campus(['seed', '--students', '36'], { environment })).errors).toMatch(
        /--replace|records/,
      );
    } finally {
      await empty.drop();
    }
  });
});

async function untilReady(url: string): Promise<number> {
  for (;;) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return answer.status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
