/** Wires scripting: the runner with its platform, the stored scripts, and their log. */

import { closeInTurn } from '../../base/process/close-in-turn.js';
import type { AccessTokens } from '../../services/auth/access-tokens.js';
import type { ScopeNames } from '../../services/auth/key-scopes.js';
import type { TextEncryption } from '../../services/auth/text-encryption.js';
import { UserTokens } from '../../services/auth/user-tokens.js';
import type { Files } from '../../services/files/files.js';
import type { Messages } from '../../services/messaging/messages.js';
import type { Topics } from '../../services/messaging/topics.js';
import { ScriptRuns } from '../../services/scripting/library/script-runs.js';
import { Scripts } from '../../services/scripting/library/scripts.js';
import { createBindings } from '../../services/scripting/platform/bindings.js';
import { OutboundClient } from '../../services/scripting/requests/outbound-client.js';
import { createWriteQueue } from '../../services/scripting/run-queues.js';
import type { ScriptLimits } from '../../services/scripting/script-limits.js';
import { ScriptLog } from '../../services/scripting/script-log.js';
import { ScriptRunner } from '../../services/scripting/script-runner.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { Database } from '../../store/database/database.js';
import type { FairQueue } from '../../store/database/fair-queue.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';
import { openDb } from './open-db.js';

export interface Scripting {
  readonly scriptRunner: ScriptRunner;
  readonly scripts: Scripts;
  readonly scriptRuns: ScriptRuns;
  readonly scriptLog: ScriptLog;
  /** The queue of writes for their `before` scripts. */
  readonly writeQueue: FairQueue;
  close(): Promise<void>;
}

export interface ScriptingServices {
  readonly database: Database;
  readonly domains: Domains;
  readonly catalog: Catalog;
  readonly topics: Topics;
  readonly store: RecordStore;
  readonly files: Files;
  readonly messages: Messages;
  readonly accessTokens: AccessTokens;
  readonly names: ScopeNames;
  readonly encryption: TextEncryption;
  readonly config: Config;
  readonly onFault: (task: string, error: unknown) => void;
}

/** Starts no thread before the first run or `scriptRunner.warmUp`. The caller closes it. */
export async function openScripting(services: ScriptingServices): Promise<Scripting> {
  const { database, domains, catalog, topics, files, messages, accessTokens, names, config, onFault } =
    services;
  const { encryption, store } = services;
  const scriptLog = new ScriptLog(database);
  const outbound = new OutboundClient({
    maxResponseBytes: config.scriptRequestMaxResponseBytes,
    ports: config.scriptRequestPorts,
    privateHosts: config.scriptRequestPrivateHosts,
  });
  const bindings = createBindings({
    domains,
    catalog,
    topics,
    messages,
    encryption,
    scriptLog,
    outbound,
    files,
    db: openDb(services),
    requestLimits: { maxRequests: config.scriptRequests, maxTimeoutMs: config.scriptRequestTimeoutMs },
    userTokens: new UserTokens({ database, accessTokens, names }),
    runNested: ({ scope, run, within }, name, args) =>
      scriptRuns.call(scope, name, {
        arguments: args,
        cause: 'script',
        depth: run.depth + 1,
        queueKey: 'held',
        within,
      }),
  });
  const limits = limitsOf(config);
  const scriptRunner = new ScriptRunner({ store, bindings, limits, onFault });
  const writeQueue = createWriteQueue(limits, config.poolSize);
  const scripts = await Scripts.load({
    database,
    maxCodeBytes: config.scriptCodeBytes,
    checkCode: (source) => scriptRunner.check(source),
  });
  const scriptRuns = new ScriptRuns({ database, scripts, store, runner: scriptRunner });
  return {
    scriptRunner,
    scripts,
    scriptRuns,
    scriptLog,
    writeQueue,
    close: () =>
      closeInTurn([
        () => outbound.close(),
        () => scriptRunner.close(),
        () => scripts.close(),
        async () => writeQueue.close(),
      ]),
  };
}

function limitsOf(config: Config): ScriptLimits {
  return {
    cpuTimeMs: config.scriptCpuTimeMs,
    wallTimeMs: config.scriptWallTimeMs,
    memoryBytes: config.scriptMemoryBytes,
    outputBytes: config.scriptOutputBytes,
    outputLines: config.scriptOutputLines,
    hostCalls: config.scriptHostCalls,
    payloadBytes: config.scriptPayloadBytes,
    codeBytes: config.scriptCodeBytes,
    depth: config.scriptDepth,
    concurrentRuns: config.scriptConcurrentRuns,
    domainRuns: config.scriptDomainRuns,
    callerRuns: config.scriptCallerRuns,
    queuedRuns: config.scriptQueuedRuns,
    callerQueuedRuns: config.scriptCallerQueuedRuns,
    beforeRuns: config.scriptBeforeRuns,
    queuedBeforeRuns: config.scriptQueuedBeforeRuns,
    streams: Math.max(1, Math.min(config.scriptStreams, Math.floor(config.poolSize / 2))),
    warmThreads: config.scriptWarmThreads,
  };
}
