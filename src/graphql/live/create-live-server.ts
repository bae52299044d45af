/** Puts together what subscriptions need of the gateway. */
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config.js';
import type { Topics } from '../../messaging/topics.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { ChangeFeed } from '../../store/changes/change-feed.js';
import type { RecordStore } from '../../store/record-store.js';
import type { PermissionOptions } from '../limits/permitted.js';
import { createValidationRules } from '../limits/validation-rules.js';
import type { RegisteredOperations } from '../persisted/registered-operations.js';
import type { LiveCallerOptions } from './live-caller.js';
import { LiveServer, type LiveServerOptions } from './live-server.js';
import { PreparedDocuments } from './prepared-documents.js';
import { RecordChanges } from './record-changes.js';

export interface LiveServices {
  readonly feed: ChangeFeed;
  readonly topics: Topics;
  readonly store: Pick<RecordStore, 'find'>;
  readonly callers: LiveCallerOptions;
  readonly rateLimits: LiveServerOptions['rateLimits'];
}

export interface LiveSurroundings {
  /** The schema of this moment. A subscription stays with the one it began on. */
  readonly schema: () => GraphQLSchema;
  readonly catalog: Catalog;
  readonly operations: PermissionOptions & {
    readonly onFault: (error: unknown, requestId: string) => void;
  };
  /** The only documents that are answered; `undefined`: any. */
  readonly registered: RegisteredOperations | undefined;
  readonly config: Pick<
    Config,
    | 'graphqlMaxDepth'
    | 'graphqlMaxRootFields'
    | 'graphqlMaxDirectives'
    | 'graphqlMaxTokens'
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
  const { feed, topics, store, callers, rateLimits } = services;
  const { schema, catalog, operations, registered, config } = surroundings;
  const documents = new PreparedDocuments({
    rules: createValidationRules(config),
    maxTokens: config.graphqlMaxTokens,
  });
  return new LiveServer({
    prepare: (sent) =>
      documents.prepare(schema(), registered?.getText(sent) ?? sent.query, sent.operationName ?? undefined),
    ...operations,
    sources: { catalog, feed, topics, recordChanges: new RecordChanges({ feed, store }) },
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
