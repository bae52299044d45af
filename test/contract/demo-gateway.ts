/** The demo school as a newcomer finds it, behind a whole gateway: for tests of what we show of it. */
import { afterAll, beforeAll } from '@jest/globals';
import type { JsonValue } from '../../src/base/json/json.js';
import { operatorScope } from '../../src/cli/command-line.js';
import { type App, createApp } from '../../src/gateway/compose/app.js';
import type { Services } from '../../src/gateway/compose/services.js';
import { parseConfig } from '../../src/gateway/config/config.js';
import { DEMO_DEFAULTS, DEMO_USERS, type DemoOptions } from '../../src/school/demo/demo-options.js';
import { CHEAP } from '../cheap-passwords.js';
import { createDemoDatabase } from '../demo-template.js';
import { DEFAULT_SETTINGS, type Role, type Settings } from './gateway.js';

/** The day up to which the school was made. */
export const DEMO_TODAY = '2026-11-20';

export interface DemoGateway {
  readonly url: string;
  readonly databaseUrl: string;
  /** Those of the gateway itself, for what is an operator's to do. */
  readonly services: Services;
  tokenOf(role: Role): string;
  fetch(path: string, init?: RequestInit & { readonly as?: Role | undefined }): Promise<Response>;
  /** Stops it, does something meanwhile, and starts it anew at the same address and on the same database. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** As an operator by `campus property set`. */
  setProperty(name: string, value: JsonValue): Promise<void>;
}

/**
 * Its users are those of the demo school, with their passwords. Without a size: as large as the first start
 * makes it.
 */
export function useDemoGateway(
  size: Partial<Pick<DemoOptions, 'students' | 'today'>> = {},
  settings: Settings = {},
): DemoGateway {
  let started: { readonly app: App; readonly url: string; readonly databaseUrl: string } | undefined;
  let drop: (() => Promise<void>) | undefined;
  const tokens = new Map<Role, string>();
  const create = (databaseUrl: string, address: Settings = {}) =>
    createApp(
      parseConfig({ ...DEFAULT_SETTINGS, DEMO: 'true', ...settings, ...address, DATABASE_URL: databaseUrl }),
      {
        passwordCost: CHEAP,
      },
    );
  const get = () => {
    if (!started) throw new Error('The gateway exists only while tests run');
    return started;
  };
  beforeAll(async () => {
    const database = await createDemoDatabase({ ...DEMO_DEFAULTS, today: DEMO_TODAY, ...size });
    drop = database.drop;
    const app = await create(database.url);
    started = { app, url: await app.listen(), databaseUrl: database.url };
    for (const { userName } of DEMO_USERS) tokens.set(userName, await signIn(started.url, userName));
  });
  afterAll(async () => {
    await started?.app.close();
    await drop?.();
  });
  return {
    get url() {
      return get().url;
    },
    get databaseUrl() {
      return get().databaseUrl;
    },
    get services() {
      return get().app.services;
    },
    tokenOf: (role) => tokens.get(role) ?? '',
    fetch(path, { as, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (as) headers.set('authorization', `Bearer ${tokens.get(as)}`);
      return fetch(get().url + path, { ...init, headers });
    },
    async restart(meanwhile) {
      const { app, url, databaseUrl } = get();
      await app.close();
      await meanwhile();
      const next = await create(databaseUrl, { PORT: new URL(url).port });
      started = { app: next, url: await next.listen(), databaseUrl };
    },
    async setProperty(name, value) {
      const { services } = get().app;
      await services.domains.setProperty(operatorScope(services, undefined), { name, value });
    },
  };
}

async function signIn(url: string, userName: string): Promise<string> {
  const response = await fetch(`${url}/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user_name: userName, password: `demo-${userName}` }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`${userName} could not sign in: ${response.status}`);
  return token;
}
