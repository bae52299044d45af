/**
 * The settings of the HTTP server: its address, its processes, what one caller may ask of it, live data,
 * webhooks, agents, and what it reports to its operators.
 */
import { z } from 'zod';
import { originsSetting, proxiesSetting } from '../../base/http/trusted-proxies.js';
import {
  bytesSetting,
  countSetting,
  flagSetting,
  httpAddressSetting,
  portSetting,
  positiveSetting,
  rolesSetting,
  secretSetting,
  setting,
  wholeNumberSetting,
  wordSetting,
  workersSetting,
} from '../../base/settings.js';

export const SERVER_SETTINGS = {
  port: setting('PORT', portSetting, 'TCP port; 0 takes a free one', '4000'),
  host: setting('HOST', z.string().min(1), 'address to listen on; 0.0.0.0 for all', '127.0.0.1'),
  publicUrl: setting(
    'PUBLIC_URL',
    httpAddressSetting('https://school.example')
      .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
      .optional(),
    'where browsers reach the gateway, e.g. https://school.example; links that are mailed begin with it, ' +
      'and without it none is; openapi.json names it as the server',
  ),
  workers: setting(
    'WORKERS',
    workersSetting,
    'processes that serve on the one port; auto: as many as there are cores. What is said of ' +
      '"this gateway" holds for each of them, POOL_SIZE too',
    '1',
  ),
  maintenance: setting('MAINTENANCE', flagSetting, 'answer 503 to everything but health checks', 'false'),
  shutdownGraceMs: setting(
    'SHUTDOWN_GRACE_MS',
    countSetting,
    'how long requests and jobs under way may go on after a stop was asked for, in milliseconds',
    '10000',
  ),
  shutdownDelayMs: setting(
    'SHUTDOWN_DELAY_MS',
    countSetting,
    'how long a stop is put off, in milliseconds, while /readyz says 503 and everything is answered: ' +
      'longer than a balancer takes to notice',
    '0',
  ),
  jobConcurrency: setting(
    'JOB_CONCURRENCY',
    wholeNumberSetting(0, 100),
    'jobs (messages, webhooks, schedules) this gateway does at once, on up to 4 connections of their ' +
      'own; 0: none, they are left to other gateways',
    '8',
  ),
  corsOrigins: setting(
    'CORS_ORIGINS',
    originsSetting,
    'origins that browsers may call from, e.g. https://portal.example, separated by commas; *: ' +
      'any; empty: none but our own',
    '',
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    proxiesSetting,
    'proxies in front whose X-Forwarded-For and X-Forwarded-Proto are believed: how many (true: ' +
      '1), or their addresses, e.g. 10.0.0.0/8, separated by commas; false: none',
    'false',
  ),
  rateLimitPerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    positiveSetting,
    'requests a minute of one user, over all keys and sessions, and of one address without a credential',
    '600',
  ),
  connectionsPerAddress: setting(
    'CONNECTIONS_PER_ADDRESS',
    positiveSetting,
    'connections one address may have open; without effect with TRUST_PROXY, as a proxy limits those of ' +
      'its clients',
    '2000',
  ),
  bodyLimitBytes: setting(
    'BODY_LIMIT_BYTES',
    bytesSetting,
    'largest request body of a caller with a credential',
    '8388608',
  ),
  anonymousBodyLimitBytes: setting(
    'ANONYMOUS_BODY_LIMIT_BYTES',
    bytesSetting,
    'largest request body of a caller without a credential, and of a login',
    '16384',
  ),
  bodyRoomBytes: setting(
    'BODY_ROOM_BYTES',
    bytesSetting,
    'bytes of request bodies over 64 KiB that are in memory at the same time; others wait for five ' +
      'seconds, one caller has half of it, and a quarter is kept for callers that use none',
    '67108864',
  ),
  bodyMaxMembers: setting(
    'BODY_MAX_MEMBERS',
    positiveSetting,
    'most members and list elements of a JSON body; parameters, forms and callers without a ' +
      'credential have 1000',
    '300000',
  ),
  maxStreamsPerCredential: setting(
    'MAX_STREAMS_PER_CREDENTIAL',
    positiveSetting,
    'streamed answers one user may read at once, by whatever credentials; a long one holds a ' +
      'connection of POOL_SIZE until nearly all of it is read',
    '6',
  ),
  streamStallMs: setting(
    'STREAM_STALL_MS',
    positiveSetting,
    'how long the reader of a streamed answer, or the sender of a large body, may pause before it is ' +
      'cut, in milliseconds',
    '30000',
  ),
  streamMinBytesPerSecond: setting(
    'STREAM_MIN_BYTES_PER_SECOND',
    countSetting,
    'what a reader that is waited for has to take of a streamed answer, and a sender to send of a body ' +
      'over 64 KiB, on an average of STREAM_STALL_MS; one that is slower is cut',
    '16384',
  ),
  topicMessageBytes: setting(
    'TOPIC_MESSAGE_BYTES',
    wholeNumberSetting(1, 1_000_000),
    'largest message published to a topic, as JSON',
    '65536',
  ),
  liveConnections: setting(
    'LIVE_CONNECTIONS',
    positiveSetting,
    'live connections (WebSockets, Server-Sent Events) of this gateway at once',
    '2000',
  ),
  liveConnectionsPerCredential: setting(
    'LIVE_CONNECTIONS_PER_CREDENTIAL',
    positiveSetting,
    'live connections of one user on this gateway at once',
    '10',
  ),
  liveSubscriptionsPerConnection: setting(
    'LIVE_SUBSCRIPTIONS_PER_CONNECTION',
    positiveSetting,
    'subscriptions of one WebSocket at once',
    '50',
  ),
  liveQueueBytes: setting(
    'LIVE_QUEUE_BYTES',
    bytesSetting,
    'events that may wait for a WebSocket whose reader is slow; with more, it is closed',
    '4194304',
  ),
  liveInitTimeoutMs: setting(
    'LIVE_INIT_TIMEOUT_MS',
    positiveSetting,
    'how long a WebSocket may take to say who it is, in milliseconds',
    '5000',
  ),
  changePollMs: setting(
    'CHANGE_POLL_MS',
    wholeNumberSetting(1, 60_000),
    'how often the database is asked for changes and messages that other gateways made, while ' +
      'somebody subscribes, in milliseconds',
    '100',
  ),
  webhookRoles: setting(
    'WEBHOOK_ROLES',
    rolesSetting,
    'roles that may have webhooks, beside admin, separated by commas; *: every user. They reach what ' +
      'platform.request may reach',
    'admin',
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    positiveSetting,
    'longest a webhook waits for the answer of its address, in milliseconds',
    '10000',
  ),
  agentMaxRows: setting(
    'AGENT_MAX_ROWS',
    positiveSetting,
    'agents: rows of each list of an answer at /mcp',
    '200',
  ),
  agentMaxBytes: setting(
    'AGENT_MAX_BYTES',
    wholeNumberSetting(1024, 2_147_483_647),
    'agents: largest answer at /mcp, as JSON; what is cut off is said',
    '65536',
  ),
  agentGateway: setting(
    'AGENT_GATEWAY',
    httpAddressSetting('http://127.0.0.1:4000'),
    'campus mcp: the gateway it asks',
    'http://127.0.0.1:4000',
  ),
  agentKey: setting(
    'AGENT_KEY',
    z.string().min(1).optional(),
    'campus mcp: the API key (or access token) it asks with; as a variable, since others see options',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    wordSetting(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']),
    'least severe line that is logged',
    'info',
  ),
  slowStatementMs: setting(
    'SLOW_STATEMENT_MS',
    countSetting,
    'statements of the database that take longer are logged, with an index that would help; 0: none are',
    '1000',
  ),
  serverTiming: setting(
    'SERVER_TIMING',
    flagSetting,
    'GraphQL: tell how long an answer took in the header Server-Timing',
    'true',
  ),
  metricsToken: setting(
    'METRICS_TOKEN',
    secretSetting(16).optional(),
    'asked for at /metrics, at least 16 characters, as Authorization: Bearer <token>; unset: ' +
      'anybody may read it',
  ),
  metricsPort: setting(
    'METRICS_PORT',
    portSetting.optional(),
    'port of /metrics alone, on the same HOST, which PORT then does not serve; unset: PORT serves it',
  ),
  traceEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    httpAddressSetting('http://localhost:4318').optional(),
    'a collector of OpenTelemetry that takes traces by OTLP over HTTP, e.g. http://localhost:4318; ' +
      'unset: nothing is traced',
  ),
  tracesPerSecond: setting(
    'TRACES_PER_SECOND',
    wholeNumberSetting(1, 1_000_000),
    'requests a second that each process tells of, those that bring a traceparent among them; after a ' +
      'pause ten times as many at once',
    '1',
  ),
} as const;
