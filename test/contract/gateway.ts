/**
 * The words of the contract tests: a whole gateway on a database of its own, its users, and scenarios as
 * data.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { type App, createApp } from '../../src/gateway/compose/app.js';
import { openServices } from '../../src/gateway/compose/services.js';
import { parseConfig } from '../../src/gateway/config/config.js';
import { Passwords } from '../../src/services/auth/passwords.js';
import { CHEAP } from '../cheap-passwords.js';
import { createTemplate, createTestDatabase, type TestDatabase } from '../database.js';

export const ROLES = ['admin', 'accountant', 'teacher', 'clerk', 'viewer'] as const;
export type Role = (typeof ROLES)[number];
/** Of every user; the user name is the role, the `_id` `usr-<role>`. */
export const PASSWORD = 'correct horse';

export interface Gateway {
  readonly url: string;
  /** Straight to the database, past the gateway. */
  readonly sql: pg.Pool;
  /** The lines of the log so far; silent unless LOG_LEVEL says otherwise. */
  readonly log: readonly string[];
  /** An access token of the user with this role. */
  tokenOf(role: Role): string;
  fetch(path: string, init?: RequestInit & { readonly as?: Role | undefined }): Promise<Response>;
}

/** Settings of the environment, e.g. `{ RATE_LIMIT_PER_MINUTE: '3' }`. */
export type Settings = Readonly<Record<string, string>>;

export const DEFAULT_SETTINGS: Settings = {
  PORT: '0',
  HOST: '127.0.0.1',
  DEMO: 'false',
  LOG_LEVEL: 'silent',
  RATE_LIMIT_PER_MINUTE: '1000000',
  LOGIN_LIMIT_PER_MINUTE: '1000000',
  LOGIN_LOCKOUT_FAILURES: '0',
  // Each thread compiles the sources anew.
  SCRIPT_WARM_THREADS: '0',
};

export interface StartedGateway extends Gateway {
  readonly app: App;
  close(): Promise<void>;
}

/**
 * A database with what the first start of a gateway makes, and with its users: to make it takes longer than
 * to copy it. The caller drops it.
 */
export async function createGatewayDatabase(): Promise<TestDatabase> {
  const template = await createTemplate('gateway', async (url) => {
    const sql = new pg.Pool({ connectionString: url, max: 1, application_name: 'contract tests' });
    await insertTop(sql);
    const services = await openServices({
      config: parseConfig({ ...DEFAULT_SETTINGS, DATABASE_URL: url }),
      onFault: (task, error) => {
        throw new Error(task, { cause: error });
      },
    });
    await insertUsers(sql);
    await services.close();
    await sql.end();
  });
  return await createTestDatabase({ template });
}

/**
 * Starts a gateway on a database that is there, and signs every role in. The caller closes it. The address
 * among the settings, where one is, is the gateway's own way to the same database.
 */
export async function startGateway(databaseUrl: string, settings: Settings = {}): Promise<StartedGateway> {
  const sql = new pg.Pool({ connectionString: databaseUrl, max: 3, application_name: 'contract tests' });
  // Tests stop databases: what a pool says of that is no news.
  sql.on('error', () => undefined);
  await insertTop(sql);
  const log: string[] = [];
  const app = await createApp(parseConfig({ ...DEFAULT_SETTINGS, DATABASE_URL: databaseUrl, ...settings }), {
    logDestination: { write: (line) => log.push(line) },
    passwordCost: CHEAP,
  });
  const url = await app.listen();
  await insertUsers(sql);
  const tokens = new Map<Role, string>();
  for (const role of ROLES) tokens.set(role, await signIn(url, role));
  const tokenOf = (role: Role) => tokens.get(role) ?? '';
  return {
    app,
    url,
    sql,
    log,
    tokenOf,
    fetch(path, { as, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (as) headers.set('authorization', `Bearer ${tokenOf(as)}`);
      return fetch(url + path, { ...init, headers });
    },
    async close() {
      await app.close();
      await sql.end();
    },
  };
}

/** A gateway for the tests of this file, on a database of its own, with all roles signed in. */
export function useGateway(settings: Settings = {}): Gateway {
  let gateway: StartedGateway | undefined;
  let drop: (() => Promise<void>) | undefined;
  const get = () => {
    if (!gateway) throw new Error('The gateway exists only while tests run');
    return gateway;
  };
  beforeAll(async () => {
    const database = await createGatewayDatabase();
    drop = database.drop;
    gateway = await startGateway(database.url, settings);
  });
  afterAll(async () => {
    await gateway?.close();
    await drop?.();
  });
  return {
    get url() {
      return get().url;
    },
    get sql() {
      return get().sql;
    },
    get log() {
      return get().log;
    },
    tokenOf: (role) => get().tokenOf(role),
    fetch: (path, init) => get().fetch(path, init),
  };
}

/** One request and what must come of it. */
export interface Scenario {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  /** Absent: no credential. */
  readonly as?: Role;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly status: number;
  /** By lower-case name; `null`: must be absent. */
  readonly expectHeaders?: Readonly<Record<string, string | RegExp | null>>;
  /** The JSON of the answer; objects need only contain what is written here. */
  readonly expectBody?: unknown;
}

/** A test for each scenario, in order. */
export function itAnswers(gateway: Gateway, scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) {
    it(`${scenario.name}: ${scenario.method ?? 'GET'} ${scenario.path} -> ${scenario.status}`, async () => {
      const response = await gateway.fetch(scenario.path, requestOf(scenario));
      const text = await response.text();
      expect({ status: response.status, text: response.status === scenario.status ? '' : text }).toEqual({
        status: scenario.status,
        text: '',
      });
      expectHeaders(response, scenario.expectHeaders ?? {});
      if (response.status >= 400) expectProblem(response, text);
      if (scenario.expectBody === undefined) return;
      const body: unknown = JSON.parse(text);
      if (Array.isArray(scenario.expectBody)) expect(body).toEqual(scenario.expectBody);
      else expect(body).toMatchObject(Object(scenario.expectBody));
    });
  }
}

/** Members of RFC 9457, the status of the answer, the request id, and nothing of our insides. */
export function expectProblem(response: Response, text: string): void {
  const problem: Record<string, unknown> = JSON.parse(text);
  expect(problem).toMatchObject({
    type: expect.stringMatching(/^urn:campus:error:[A-Z_]+$/),
    title: expect.any(String),
    status: response.status,
    detail: expect.any(String),
    instance: response.headers.get('x-request-id'),
  });
  expect(response.headers.get('content-type')).toMatch(/^application\/(problem\+)?json; charset=utf-8$/);
  expect(text).not.toMatch(/node_modules|at \w+ \(|select |postgres:\/\/|password_hash/i);
}

function requestOf(scenario: Scenario): RequestInit & { readonly as?: Role | undefined } {
  const { method = 'GET', headers, body, as } = scenario;
  const isText = typeof body === 'string';
  return {
    method,
    headers: { ...(body !== undefined && !isText && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    ...(as && { as }),
    redirect: 'manual',
  };
}

function expectHeaders(response: Response, expected: NonNullable<Scenario['expectHeaders']>): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = response.headers.get(name);
    if (value instanceof RegExp) expect([name, found]).toEqual([name, expect.stringMatching(value)]);
    else expect([name, found]).toEqual([name, value]);
  }
}

async function insertTop(sql: pg.Pool): Promise<void> {
  await sql.query(
    `insert into domains (id, name) select 'top', 'Top' where not exists (select from domains)`,
  );
}

/** The users of the tests, past the gateway and with a hash that takes no time. */
async function insertUsers(sql: pg.Pool): Promise<void> {
  const passwordHash = await new Passwords({ cost: CHEAP }).hash(PASSWORD);
  for (const role of ROLES) {
    const record = {
      user_name: role,
      name: `The ${role}`,
      active: true,
      roles: [role],
      employee_code: `E-${role}`,
    };
    await sql.query(
      `with domain as (select id from domains where parent_id is null),
       written as (
         insert into records (domain, collection, id, data)
         select id, 'pltf_user', $1, $2::jsonb from domain
         on conflict do nothing
       )
       insert into credentials (domain_id, user_id, password_hash)
       select id, $1, $3 from domain
       on conflict do nothing`,
      [`usr-${role}`, JSON.stringify(record), passwordHash],
    );
  }
}

async function signIn(url: string, role: Role): Promise<string> {
  const response = await fetch(`${url}/auth?user_name=${role}&password=${encodeURIComponent(PASSWORD)}`, {
    method: 'POST',
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`${role} could not sign in: ${response.status}`);
  return token;
}
