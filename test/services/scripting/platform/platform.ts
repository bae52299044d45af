/** A whole gateway whose platform scripts call, as a signed-in user of each role. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type { JsonValue } from '../../../../src/base/json/json.js';
import type { Scope } from '../../../../src/base/model/scope.js';
import type { Services } from '../../../../src/gateway/compose/services.js';
import type { RunRequest, RunResult } from '../../../../src/services/scripting/run-request.js';
import {
  createGatewayDatabase,
  type Role,
  type Settings,
  type StartedGateway,
  startGateway,
} from '../../../contract/gateway.js';

export interface TestPlatform {
  readonly gateway: StartedGateway;
  readonly services: Services;
  /** As whom and where a user of this role asks. */
  scopeOf(role: Role, domainId?: string): Promise<Scope>;
  run(as: Role | Scope, code: string, request?: Partial<RunRequest>): Promise<RunResult>;
  /** The value of a script that must succeed. */
  value(as: Role | Scope, code: string, args?: JsonValue): Promise<JsonValue | undefined>;
}

/** `settings` is asked when the gateway starts: what it needs to know may be known only then. */
export function usePlatform(settings: () => Settings = () => ({})): TestPlatform {
  let gateway: StartedGateway | undefined;
  let drop: (() => Promise<void>) | undefined;
  const get = () => {
    if (gateway === undefined) throw new Error('the gateway is there while tests run');
    return gateway;
  };
  beforeAll(async () => {
    const database = await createGatewayDatabase();
    drop = database.drop;
    gateway = await startGateway(database.url, settings());
  });
  afterAll(async () => {
    await gateway?.close();
    await drop?.();
  });

  const scopeOf: TestPlatform['scopeOf'] = async (role, domainId) => {
    const { authenticator, domains } = get().app.services;
    const principal = await authenticator.authenticate(get().tokenOf(role));
    return {
      principal,
      domain: domains.get(domainId ?? principal.domainId),
      call: { requestId: randomUUID() },
    };
  };
  const run: TestPlatform['run'] = async (as, code, request) => {
    const scope = typeof as === 'string' ? await scopeOf(as) : as;
    const source = { name: 'test.js', code };
    return await get().app.services.scriptRunner.run({ source, scope, arguments: null, ...request });
  };
  return {
    get gateway() {
      return get();
    },
    get services() {
      return get().app.services;
    },
    scopeOf,
    run,
    async value(as, code, args) {
      const result = await run(as, code, args === undefined ? {} : { arguments: args });
      if (result.error !== undefined) throw new Error(JSON.stringify(result.error));
      return result.value;
    },
  };
}
