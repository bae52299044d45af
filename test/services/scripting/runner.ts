/** The words of the tests of scripts: a runner on the test database, and principals of every role. */
import { afterAll, beforeAll } from '@jest/globals';
import type { JsonValue } from '../../../src/base/json/json.js';
import type { Scope } from '../../../src/base/model/scope.js';
import type { HostBinding } from '../../../src/services/scripting/platform/host-binding.js';
import type { RunRequest, RunResult } from '../../../src/services/scripting/run-request.js';
import { ScriptRunner } from '../../../src/services/scripting/script-runner.js';
import type { ScriptLimits } from '../../../src/services/scripting/script-settings.js';
import type { Database } from '../../../src/store/database/database.js';
import { atomically } from '../../../src/store/writing/atomically.js';
import { NO_TRIGGERS } from '../../../src/store/writing/write-triggers.js';

export const LIMITS: ScriptLimits = {
  cpuTimeMs: 5_000,
  wallTimeMs: 20_000,
  memoryBytes: 32 * 1024 * 1024,
  outputBytes: 100_000,
  outputLines: 1_000,
  hostCalls: 20_000,
  payloadBytes: 1_000_000,
  codeBytes: 100_000,
  depth: 3,
  concurrentRuns: 4,
  domainRuns: 4,
  callerRuns: 4,
  queuedRuns: 4,
  callerQueuedRuns: 4,
  beforeRuns: 2,
  queuedBeforeRuns: 4,
  streams: 6,
  warmThreads: 1,
  beforeTimeoutMs: 2_000,
  requests: 100,
  requestTimeoutMs: 10_000,
  requestMaxResponseBytes: 100_000,
};

export const SCOPE: Scope = {
  domain: { id: 'top', name: 'Top', parentId: undefined, timeZone: 'Asia/Kolkata' },
  principal: {
    kind: 'user',
    id: 'usr-clerk',
    userName: 'clerk',
    domainId: 'top',
    roles: new Set(['clerk']),
    credential: { kind: 'token', id: '7f3cf7a8-6d0c-4c9e-9a3e-1f7a3a1d2b4c' },
    scopes: undefined,
    attributes: {},
  },
  call: { requestId: 'request-1' },
};

/** A savepoint needs none. */
const NO_ENVIRONMENT = { database: undefined as never, triggers: NO_TRIGGERS };

export interface TestRunner {
  readonly runner: ScriptRunner;
  /** What went wrong in the gateway. */
  readonly faults: readonly string[];
  run(code: string, request?: Partial<RunRequest> & { readonly args?: JsonValue }): Promise<RunResult>;
  /** The value of a script that must succeed. */
  value(code: string, args?: JsonValue): Promise<JsonValue | undefined>;
}

/** A runner with these bindings; its scripts are called `fees.js`. */
export function useRunner(options: {
  readonly database: Pick<Database, 'transaction'>;
  readonly bindings?: readonly HostBinding[];
  readonly limits?: Partial<ScriptLimits>;
}): TestRunner {
  const faults: string[] = [];
  let made: ScriptRunner | undefined;
  const runner = () => {
    if (made === undefined) throw new Error('the runner is there while tests run');
    return made;
  };
  beforeAll(() => {
    made = new ScriptRunner({
      store: {
        transaction: (scope, work, { within } = {}) =>
          within === undefined
            ? options.database.transaction(work)
            : atomically(NO_ENVIRONMENT, scope, { within, writes: 'anything' }, work),
      },
      bindings: options.bindings ?? [],
      limits: { ...LIMITS, ...options.limits },
      onFault: (task, error) => faults.push(`${task}: ${error}`),
    });
  });
  afterAll(async () => {
    await made?.close();
  });
  const run: TestRunner['run'] = async (code, { args, ...request } = {}) =>
    await runner().run({
      source: { name: 'fees.js', code },
      scope: SCOPE,
      arguments: args ?? null,
      ...request,
    });
  return {
    get runner() {
      return runner();
    },
    faults,
    run,
    async value(code, args) {
      const result = await run(code, args === undefined ? {} : { args });
      if (result.error !== undefined) throw new Error(JSON.stringify(result.error));
      return result.value;
    },
  };
}
