/**
 * Every setting of the service: its environment variable, type, default and meaning, said once.
 * `.env.example` is printed from this list (`npm run print`), and nothing else reads the environment.
 */
import { z } from 'zod';
import { AGENT_SETTINGS } from './agents/agent-settings.js';
import { BACKUP_SETTINGS } from './backup/backup-settings.js';
import { ConfigError } from './config-error.js';
import { findNearest } from './did-you-mean.js';
import { FILE_SETTINGS } from './files/file-settings.js';
import { IMPORT_SETTINGS } from './importing/import-settings.js';
import { MESSAGE_SETTINGS } from './messaging/message-settings.js';
import { SCRIPT_SETTINGS } from './scripting/script-settings.js';
import { countSetting, flagSetting, listSetting, positiveSetting, workersSetting } from './settings.js';
import { listHostUrls } from './store/database/list-host-urls.js';
import { originsSetting, proxiesSetting } from './trusted-proxies.js';

interface Setting {
  readonly variable: string;
  /** The default is written as it would be in the environment; absent: not set. */
  readonly default?: string;
  readonly schema: z.ZodType;
  readonly meaning: string;
}

const SETTINGS = {
  port: {
    variable: 'PORT',
    default: '4000',
    schema: z.coerce.number().int().min(0).max(65535),
    meaning: 'TCP port; 0 takes a free one',
  },
  host: {
    variable: 'HOST',
    default: '127.0.0.1',
    schema: z.string().min(1),
    meaning: 'address to listen on; 0.0.0.0 for all',
  },
  publicUrl: {
    variable: 'PUBLIC_URL',
    schema: z.url({ protocol: /^https?$/ }).optional(),
    meaning:
      'where browsers reach the gateway, e.g. https://school.example; links that are mailed begin with it, ' +
      'and without it none is; openapi.json names it as the server',
  },
  workers: {
    variable: 'WORKERS',
    default: '1',
    schema: workersSetting,
    meaning:
      'processes that serve on the one port; auto: as many as there are cores. What is said of ' +
      '"this gateway" holds for each of them, POOL_SIZE too',
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    schema: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'expected postgresql://user:password@host:port/database')
      .refine((url) => !/[?&]target_session_attrs=(?!any|read-write|primary|prefer-primary)/.test(url), {
        error: 'target_session_attrs is to be read-write',
      })
      .refine((url) => listHostUrls(url).every((one) => URL.canParse(one)), {
        error:
          'a host or port that is none; in a user and password, % # / ? @ : are written as ' +
          '%25 %23 %2F %3F %40 %3A',
      })
      .optional(),
    meaning:
      'a PostgreSQL >= 15 of your own; of several servers, host1:5432,host2:5432, the one that is primary; ' +
      'unset: an embedded one in DATA_DIRECTORY',
  },
  databaseReplicaUrls: {
    variable: 'DATABASE_REPLICA_URLS',
    default: '',
    schema: listSetting.refine((urls) => urls.every((url) => /^postgres(ql)?:\/\//.test(url)), {
      error: 'expected postgresql://user:password@host:port/database, separated by commas',
    }),
    meaning:
      'streaming replicas that lists, streams, aggregates and reports are read from, separated by commas; ' +
      'the same for all gateways',
  },
  replicaMaxLagMs: {
    variable: 'REPLICA_MAX_LAG_MS',
    default: '5000',
    schema: positiveSetting.min(2_000),
    meaning: 'a replica further behind than this is not read from, in milliseconds',
  },
  dataDirectory: {
    variable: 'DATA_DIRECTORY',
    default: '.data',
    schema: z.string().min(1),
    meaning: 'where the embedded database keeps its files',
  },
  poolSize: {
    variable: 'POOL_SIZE',
    default: '16',
    schema: positiveSetting.max(1000),
    meaning: 'connections to the database',
  },
  statementTimeoutMs: {
    variable: 'STATEMENT_TIMEOUT_MS',
    default: '30000',
    schema: countSetting,
    meaning: 'longest a statement may run, in milliseconds; 0: no limit. Streams are not bound by it',
  },
  demo: {
    variable: 'DEMO',
    default: 'true',
    schema: flagSetting,
    meaning: 'make the demo school on the first start of the embedded database',
  },
  tokenSecret: {
    variable: 'TOKEN_SECRET',
    schema: z.string().min(32).optional(),
    meaning: 'signs access tokens, at least 32 characters; unset: made once and kept in the database',
  },
  accessTokenTtlSeconds: {
    variable: 'ACCESS_TOKEN_TTL_SECONDS',
    default: '3600',
    schema: positiveSetting,
    meaning: 'life of an access token',
  },
  refreshTokenTtlSeconds: {
    variable: 'REFRESH_TOKEN_TTL_SECONDS',
    default: '2592000',
    schema: positiveSetting,
    meaning: 'life of a refresh token',
  },
  secondFactorRoles: {
    variable: 'SECOND_FACTOR_ROLES',
    default: '',
    schema: listSetting,
    meaning:
      'roles that need a second factor, e.g. admin, separated by commas: who logs in without one may do ' +
      'nothing but switch it on; empty: none, whoever wants one has it',
  },
  oidcIssuer: {
    variable: 'OIDC_ISSUER',
    schema: z.url({ protocol: /^https?$/ }).optional(),
    meaning:
      'address of an OpenID Connect provider at which people may log in, by their verified email address; ' +
      'needs OIDC_CLIENT_ID and PUBLIC_URL',
  },
  oidcClientId: {
    variable: 'OIDC_CLIENT_ID',
    schema: z.string().optional(),
    meaning:
      'what the provider calls this gateway; its redirect URI is PUBLIC_URL/auth/browser/oidc/callback',
  },
  oidcClientSecret: {
    variable: 'OIDC_CLIENT_SECRET',
    schema: z.string().optional(),
    meaning: 'the secret of that client; unset: it has none',
  },
  oidcName: {
    variable: 'OIDC_NAME',
    default: 'OpenID Connect',
    schema: z.string().max(60),
    meaning: 'what the button of the log-in page calls the provider',
  },
  oidcLogout: {
    variable: 'OIDC_LOGOUT',
    default: 'true',
    schema: flagSetting,
    meaning:
      'log out at the provider as well, where it says how; its post-logout redirect URI is PUBLIC_URL/, ' +
      'with the slash',
  },
  apiKeyRoles: {
    variable: 'API_KEY_ROLES',
    default: '*',
    schema: listSetting,
    meaning: 'roles that may have API keys, separated by commas; *: every user. Admins make keys for others',
  },
  webhookRoles: {
    variable: 'WEBHOOK_ROLES',
    default: 'admin',
    schema: listSetting,
    meaning:
      'roles that may have webhooks, beside admin, separated by commas; *: every user. They reach what ' +
      'platform.request may reach',
  },
  webhookTimeoutMs: {
    variable: 'WEBHOOK_TIMEOUT_MS',
    default: '10000',
    schema: positiveSetting,
    meaning: 'longest a webhook waits for the answer of its address, in milliseconds',
  },
  rateLimitPerMinute: {
    variable: 'RATE_LIMIT_PER_MINUTE',
    default: '600',
    schema: positiveSetting,
    meaning: 'requests a minute of one credential',
  },
  loginLimitPerMinute: {
    variable: 'LOGIN_LIMIT_PER_MINUTE',
    default: '10',
    schema: positiveSetting,
    meaning: 'login attempts a minute of one user and address',
  },
  loginLockoutFailures: {
    variable: 'LOGIN_LOCKOUT_FAILURES',
    default: '5',
    schema: countSetting,
    meaning:
      'failed logins of one user and address that are forgiven; each one more doubles the time for which ' +
      'both are refused, from 15 seconds to 16 minutes; 0: all are forgiven',
  },
  bodyLimitBytes: {
    variable: 'BODY_LIMIT_BYTES',
    default: '8388608',
    schema: positiveSetting,
    meaning: 'largest request body of a caller with a credential',
  },
  anonymousBodyLimitBytes: {
    variable: 'ANONYMOUS_BODY_LIMIT_BYTES',
    default: '16384',
    schema: positiveSetting,
    meaning: 'largest request body of a caller without a credential, and of a login',
  },
  bodyRoomBytes: {
    variable: 'BODY_ROOM_BYTES',
    default: '67108864',
    schema: positiveSetting,
    meaning:
      'bytes of request bodies over 64 KiB that are in memory at the same time; others wait for five ' +
      'seconds, and one caller has half of it',
  },
  bodyMaxMembers: {
    variable: 'BODY_MAX_MEMBERS',
    default: '300000',
    schema: positiveSetting,
    meaning:
      'most members and list elements of a JSON body; parameters, forms and callers without a ' +
      'credential have 1000',
  },
  defaultPageSize: {
    variable: 'DEFAULT_PAGE_SIZE',
    default: '50',
    schema: positiveSetting,
    meaning: 'GraphQL: records of a page when `first` is not given',
  },
  maxPageSize: {
    variable: 'MAX_PAGE_SIZE',
    default: '1000',
    schema: positiveSetting,
    meaning: 'GraphQL: largest `first`',
  },
  maxRecordsPerWrite: {
    variable: 'MAX_RECORDS_PER_WRITE',
    default: '10000',
    schema: positiveSetting,
    meaning: 'records one call may create, change or remove',
  },
  maxResultRecords: {
    variable: 'MAX_RESULT_RECORDS',
    default: '10000',
    schema: positiveSetting,
    meaning: 'platform.db: records or values a function gives at once; what is streamed has no such bound',
  },
  pipelineMemoryBytes: {
    variable: 'PIPELINE_MEMORY_BYTES',
    default: '33554432',
    schema: positiveSetting,
    meaning: 'documents of an aggregation that stages outside the database may hold, in bytes of JSON',
  },
  pipelineTimeoutMs: {
    variable: 'PIPELINE_TIMEOUT_MS',
    default: '10000',
    schema: positiveSetting,
    meaning: 'longest such stages may take for one batch of documents, in milliseconds',
  },
  graphqlMaxDepth: {
    variable: 'GRAPHQL_MAX_DEPTH',
    default: '12',
    schema: positiveSetting,
    meaning: 'GraphQL: deepest nesting of a document',
  },
  graphqlMaxCost: {
    variable: 'GRAPHQL_MAX_COST',
    default: '10000',
    schema: positiveSetting,
    meaning: 'GraphQL: highest cost of an operation, counted by page sizes',
  },
  graphqlMaxRootFields: {
    variable: 'GRAPHQL_MAX_ROOT_FIELDS',
    default: '15',
    schema: positiveSetting,
    meaning: 'GraphQL: root fields and aliases of a document',
  },
  graphqlBatching: {
    variable: 'GRAPHQL_BATCHING',
    default: 'false',
    schema: flagSetting,
    meaning: 'GraphQL: accept an array of operations in one request',
  },
  federation: {
    variable: 'FEDERATION',
    default: 'false',
    schema: flagSetting,
    meaning: 'GraphQL: be a subgraph of a supergraph (Apollo Federation 2)',
  },
  graphqlMaxTokens: {
    variable: 'GRAPHQL_MAX_TOKENS',
    default: '5000',
    schema: positiveSetting,
    meaning: 'GraphQL: tokens of a document; the largest introspection query has some 500',
  },
  graphqlMaxDirectives: {
    variable: 'GRAPHQL_MAX_DIRECTIVES',
    default: '50',
    schema: positiveSetting,
    meaning: 'GraphQL: directives of a document',
  },
  graphqlMaxBatch: {
    variable: 'GRAPHQL_MAX_BATCH',
    default: '10',
    schema: positiveSetting,
    meaning: 'GraphQL: operations of one request, where GRAPHQL_BATCHING accepts several',
  },
  persistedQueriesMaxLength: {
    variable: 'PERSISTED_QUERIES_MAX_LENGTH',
    default: '4000000',
    schema: positiveSetting,
    meaning:
      'GraphQL: characters of automatic persisted queries that are kept; the least used are forgotten first',
  },
  registeredOperationsOnly: {
    variable: 'REGISTERED_OPERATIONS_ONLY',
    default: 'false',
    schema: flagSetting,
    meaning: 'GraphQL: answer only the documents of REGISTERED_OPERATIONS',
  },
  registeredOperations: {
    variable: 'REGISTERED_OPERATIONS',
    schema: z.string().min(1).optional(),
    meaning: 'a .graphql file or a folder of them; unset: the schema/operations that comes with the gateway',
  },
  anyOperationRoles: {
    variable: 'ANY_OPERATION_ROLES',
    default: 'admin',
    schema: listSetting,
    meaning: 'roles that may send any document all the same, separated by commas; empty: none',
  },
  serverTiming: {
    variable: 'SERVER_TIMING',
    default: 'true',
    schema: flagSetting,
    meaning: 'GraphQL: tell how long an answer took in the header Server-Timing',
  },
  slowStatementMs: {
    variable: 'SLOW_STATEMENT_MS',
    default: '1000',
    schema: countSetting,
    meaning:
      'statements of the database that take longer are logged, with an index that would help; 0: none are',
  },
  introspectionRoles: {
    variable: 'INTROSPECTION_ROLES',
    default: '*',
    schema: listSetting,
    meaning: 'roles that may introspect the schema, separated by commas; *: every signed-in caller',
  },
  corsOrigins: {
    variable: 'CORS_ORIGINS',
    default: '',
    schema: originsSetting,
    meaning:
      'origins that browsers may call from, e.g. https://portal.example, separated by commas; *: ' +
      'any; empty: none but our own',
  },
  trustProxy: {
    variable: 'TRUST_PROXY',
    default: 'false',
    schema: proxiesSetting,
    meaning:
      'proxies in front whose X-Forwarded-For and X-Forwarded-Proto are believed: how many (true: ' +
      '1), or their addresses, e.g. 10.0.0.0/8, separated by commas; false: none',
  },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    schema: z.string().min(16).optional(),
    meaning:
      'asked for at /metrics, at least 16 characters, as Authorization: Bearer <token>; unset: ' +
      'anybody may read it',
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    schema: z.coerce.number().int().min(0).max(65535).optional(),
    meaning:
      'port of /metrics alone, on the same HOST, which PORT then does not serve; unset: PORT serves it',
  },
  traceEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    schema: z.url({ protocol: /^https?$/ }).optional(),
    meaning:
      'a collector of OpenTelemetry that takes traces by OTLP over HTTP, e.g. http://localhost:4318; ' +
      'unset: nothing is traced',
  },
  tracesPerSecond: {
    variable: 'TRACES_PER_SECOND',
    default: '1',
    schema: z.coerce.number().int().min(1).max(1_000_000),
    meaning:
      'requests a second that each process tells of, those that bring a traceparent among them; after a ' +
      'pause ten times as many at once',
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    default: 'info',
    schema: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']),
    meaning: 'least severe line that is logged',
  },
  maintenance: {
    variable: 'MAINTENANCE',
    default: 'false',
    schema: flagSetting,
    meaning: 'answer 503 to everything but health checks',
  },
  maxStreamsPerCredential: {
    variable: 'MAX_STREAMS_PER_CREDENTIAL',
    default: '6',
    schema: positiveSetting,
    meaning:
      'streamed answers one user may read at once, by whatever credentials; a long one holds a ' +
      'connection of POOL_SIZE until nearly all of it is read',
  },
  streamStallMs: {
    variable: 'STREAM_STALL_MS',
    default: '30000',
    schema: positiveSetting,
    meaning: 'how long the reader of a streamed answer may take nothing before it is cut, in milliseconds',
  },
  streamMinBytesPerSecond: {
    variable: 'STREAM_MIN_BYTES_PER_SECOND',
    default: '16384',
    schema: countSetting,
    meaning:
      'what a reader that is waited for has to take of a streamed answer, on an average of ' +
      'STREAM_STALL_MS; one that takes less is cut',
  },
  keepRemovedDays: {
    variable: 'KEEP_REMOVED_DAYS',
    default: '90',
    schema: positiveSetting,
    meaning: 'how long a removed record answers 410 before it is purged and its _id is free again',
  },
  topicMessageBytes: {
    variable: 'TOPIC_MESSAGE_BYTES',
    default: '65536',
    schema: positiveSetting.max(1_000_000),
    meaning: 'largest message published to a topic, as JSON',
  },
  liveConnections: {
    variable: 'LIVE_CONNECTIONS',
    default: '2000',
    schema: positiveSetting,
    meaning: 'WebSockets of this gateway at once',
  },
  liveConnectionsPerCredential: {
    variable: 'LIVE_CONNECTIONS_PER_CREDENTIAL',
    default: '10',
    schema: positiveSetting,
    meaning: 'WebSockets of one credential on this gateway at once',
  },
  liveSubscriptionsPerConnection: {
    variable: 'LIVE_SUBSCRIPTIONS_PER_CONNECTION',
    default: '50',
    schema: positiveSetting,
    meaning: 'subscriptions of one WebSocket at once',
  },
  liveQueueBytes: {
    variable: 'LIVE_QUEUE_BYTES',
    default: '4194304',
    schema: positiveSetting,
    meaning: 'events that may wait for a WebSocket whose reader is slow; with more, it is closed',
  },
  liveInitTimeoutMs: {
    variable: 'LIVE_INIT_TIMEOUT_MS',
    default: '5000',
    schema: positiveSetting,
    meaning: 'how long a WebSocket may take to say who it is, in milliseconds',
  },
  changePollMs: {
    variable: 'CHANGE_POLL_MS',
    default: '100',
    schema: positiveSetting.max(60_000),
    meaning:
      'how often the database is asked for changes and messages that other gateways made, while ' +
      'somebody subscribes, in milliseconds',
  },
  shutdownGraceMs: {
    variable: 'SHUTDOWN_GRACE_MS',
    default: '10000',
    schema: countSetting,
    meaning: 'how long requests and jobs under way may go on after a stop was asked for, in milliseconds',
  },
  shutdownDelayMs: {
    variable: 'SHUTDOWN_DELAY_MS',
    default: '0',
    schema: countSetting,
    meaning:
      'how long a stop is put off, in milliseconds, while /readyz says 503 and everything is answered: ' +
      'longer than a balancer takes to notice',
  },
  jobConcurrency: {
    variable: 'JOB_CONCURRENCY',
    default: '8',
    schema: countSetting.max(100),
    meaning:
      'jobs (messages, schedules) this gateway does at once, on up to 4 connections of their own; 0: ' +
      'none, they are left to other gateways',
  },
  ...MESSAGE_SETTINGS,
  ...FILE_SETTINGS,
  ...IMPORT_SETTINGS,
  ...AGENT_SETTINGS,
  ...BACKUP_SETTINGS,
  ...SCRIPT_SETTINGS,
} as const satisfies Record<string, Setting>;

export type Config = {
  readonly [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]['schema']>;
};

/**
 * Reads the settings from an environment. An empty variable counts as not set.
 *
 * @throws ConfigError that names every variable at fault
 */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
    const written = environment[setting.variable];
    const parsed = setting.schema.safeParse(
      written === undefined || written === '' ? setting.default : written,
    );
    if (parsed.success) values[name] = parsed.data;
    else
      faults.push(
        `${setting.variable}: ${parsed.error.issues.map((issue) => issue.message).join(', ')} ` +
          `(${setting.meaning})`,
      );
  }
  if (values.oidcIssuer !== undefined && (!values.oidcClientId || !values.publicUrl))
    faults.push('OIDC_ISSUER: needs OIDC_CLIENT_ID and PUBLIC_URL');
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return values as Config;
}

/**
 * One line for each variable that is no setting but looks like a slip in the name of one; an environment
 * holds many that are none of our business.
 */
export function findMisspelt(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values<Setting>(SETTINGS).map((setting) => setting.variable);
  const isSet = (name: string) => environment[name] !== undefined && environment[name] !== '';
  const unset = known.filter((name) => !isSet(name));
  return Object.keys(environment).flatMap((name) => {
    if (known.includes(name)) return [];
    // Two letters in eleven: PGPORT is another program's, and no slip in PORT.
    const meant = findNearest(name, unset, Math.max(1, Math.floor(name.length / 5)));
    return meant === undefined || !isNearInEachWord(name, meant)
      ? []
      : [`${name} is no setting. Did you mean ${meant}?`];
  });
}

/** WEB_CONCURRENCY is as near to JOB_CONCURRENCY as a slip would be, but has another word. */
function isNearInEachWord(name: string, meant: string): boolean {
  const words = name.split('_');
  const wordsMeant = meant.split('_');
  if (words.length !== wordsMeant.length) return true;
  return words.every((word, index) => {
    const mostChanges = Math.max(1, Math.floor(word.length / 3));
    return findNearest(word, wordsMeant.slice(index, index + 1), mostChanges) !== undefined;
  });
}

/** The text of `.env.example`: every variable with its default and meaning. */
export function printEnvExample(): string {
  const lines = Object.values<Setting>(SETTINGS).flatMap((setting) => [
    `# ${setting.meaning}`,
    setting.default === undefined ? `# ${setting.variable}=` : `${setting.variable}=${setting.default}`,
    '',
  ]);
  return ['# Copy to .env and change what you need; the values here are the defaults.', '', ...lines].join(
    '\n',
  );
}
