/** Wires subscriptions to the services of the gateway. */
import type { Catalog } from '../../../store/catalog/catalog.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { Config } from '../../config/config.js';
import type { PermissionOptions } from '../limits/permitted.js';
import type { ServedSchema } from '../operation/served-schema.js';
import type { RegisteredOperations } from '../persisted/registered-operations.js';
import type { LiveCallerOptions } from './live-caller.js';
import { LiveServer, type LiveServerOptions } from './live-server.js';
import type { LiveSources } from './live-sources.js';
import { RecordChanges } from './record-changes.js';

export interface LiveServices extends Omit<LiveSources, 'catalog' | 'recordChanges'> {
  readonly store: Pick<RecordStore, 'find'>;
  readonly callers: LiveCallerOptions;
  readonly rateLimits: LiveServerOptions['rateLimits'];
}

export interface LiveSurroundings {
  /** The current schema. A subscription keeps the schema it began with. */
  readonly served: () => ServedSchema;
  readonly catalog: Catalog;
  readonly operations: PermissionOptions & {
    readonly fieldMeter: LiveServerOptions['fieldMeter'];
    readonly onFault: (error: unknown, requestId: string) => void;
  };
  /** The only documents that are answered; `undefined`: any document. */
  readonly registered: RegisteredOperations | undefined;
  readonly config: Pick<
    Config,
    | 'liveConnectionsPerCredential'
    | 'liveSubscriptionsPerConnection'
    | 'liveQueueBytes'
    | 'liveInitTimeoutMs'
    | 'anonymousBodyLimitBytes'
    | 'bodyMaxMembers'
  >;
}

/** The caller closes it. */
export function createLiveServer(services: LiveServices, surroundings: LiveSurroundings): LiveServer {
  const { store, callers, rateLimits, ...followed } = services;
  const { served, catalog, operations, registered, config } = surroundings;
  return new LiveServer({
    prepare: (sent) =>
      served().prepare(registered?.getText(sent) ?? sent.query, sent.operationName ?? undefined),
    ...operations,
    sources: { ...followed, catalog, recordChanges: new RecordChanges({ feed: followed.feed, store }) },
    callers,
    rateLimits,
    limits: {
      connectionsPerCredential: config.liveConnectionsPerCredential,
      subscriptionsPerConnection: config.liveSubscriptionsPerConnection,
      queueBytes: config.liveQueueBytes,
      initTimeoutMs: config.liveInitTimeoutMs,
      firstMessageBytes: config.anonymousBodyLimitBytes,
      messageMembers: config.bodyMaxMembers,
    },
  });
}
