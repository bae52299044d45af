/**
 * The settings of the HTTP server: its address, its processes, the limits of one caller, live data, webhooks,
 * agents, logs and metrics.
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
  port: setting(portSetting, 'TCP port; 0 takes a free one', '4000'),
  host: setting(z.string().min(1), 'address to listen on; 0.0.0.0 for all', '127.0.0.1'),
  publicUrl: setting(
    httpAddressSetting('https://school.example')
      .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
      .optional(),
    'where browsers reach the gateway, e.g. https://school.example; links that are mailed begin with it, ' +
      'and without it none is; openapi.json names it as the server',
  ),
  workers: setting(
    workersSetting,
    'processes that serve on the one port; auto: one for each core. Settings described with ' +
      '"this gateway" apply to each of them, and so does POOL_SIZE',
    '1',
  ),
  maintenance: setting(flagSetting, 'answer 503 to everything but health checks', 'false'),
  shutdownGraceMs: setting(
    countSetting,
    'how long running requests and jobs may continue after a stop was requested, in milliseconds',
    '10000',
  ),
  shutdownDelayMs: setting(
    countSetting,
    'how long a stop is delayed, in milliseconds, while /readyz answers 503 and requests are served: ' +
      'longer than a balancer takes to notice',
    '0',
  ),
  jobConcurrency: setting(
    wholeNumberSetting(0, 100),
    'jobs (messages, webhooks, schedules) this gateway does at once, on up to 4 connections of their ' +
      'own; 0: none, they are left to other gateways',
    '8',
  ),
  corsOrigins: setting(
    originsSetting,
    'origins that browsers may call from, e.g. https://portal.example, separated by commas; *: ' +
      'any; empty: none but our own',
    '',
  ),
  trustProxy: setting(
    proxiesSetting,
    'proxies in front whose X-Forwarded-For and X-Forwarded-Proto are believed: how many (true: ' +
      '1), or their addresses, e.g. 10.0.0.0/8, separated by commas; false: none',
    'false',
  ),
  rateLimitPerMinute: setting(
    positiveSetting,
    'requests a minute of one user, over all keys and sessions, and of one address without a credential',
    '600',
  ),
  connectionsPerAddress: setting(
    positiveSetting,
    'connections one address may have open; without effect with TRUST_PROXY, as a proxy limits those of ' +
      'its clients',
    '2000',
  ),
  bodyLimitBytes: setting(bytesSetting, 'largest request body of a caller with a credential', '8388608'),
  anonymousBodyLimitBytes: setting(
    bytesSetting,
    'largest request body of a caller without a credential, and of a login',
    '16384',
  ),
  bodyRoomBytes: setting(
    bytesSetting,
    'bytes of request bodies over 64 KiB that are in memory at the same time; others wait for five ' +
      'seconds, one caller has half of it, and a quarter is kept for callers that use none',
    '67108864',
  ),
  bodyMaxMembers: setting(
    positiveSetting,
    'most members and list elements of a JSON body; parameters, forms and callers without a ' +
      'credential have 1000',
    '300000',
  ),
  maxStreamsPerCredential: setting(
    positiveSetting,
    'streamed answers one user may read at once, by whatever credentials; a long one holds a ' +
      'connection of POOL_SIZE until nearly all of it is read',
    '6',
  ),
  streamStallMs: setting(
    positiveSetting,
    'how long the reader of a streamed answer, or the sender of a large body, may pause before it is ' +
      'cut, in milliseconds',
    '30000',
  ),
  streamMinBytesPerSecond: setting(
    countSetting,
    'bytes a second that a reader must take of a streamed answer while the gateway waits for it, and a ' +
      'sender must send of a body over 64 KiB, averaged over STREAM_STALL_MS; a slower one is cut off',
    '16384',
  ),
  topicMessageBytes: setting(
    wholeNumberSetting(1, 1_000_000),
    'largest message published to a topic, as JSON',
    '65536',
  ),
  liveConnections: setting(
    positiveSetting,
    'live connections (WebSockets, Server-Sent Events) of this gateway at once',
    '2000',
  ),
  liveConnectionsPerCredential: setting(
    positiveSetting,
    'live connections of one user on this gateway at once',
    '10',
  ),
  liveSubscriptionsPerConnection: setting(positiveSetting, 'subscriptions of one WebSocket at once', '50'),
  liveQueueBytes: setting(
    bytesSetting,
    'events that may wait for a WebSocket whose reader is slow; with more, it is closed',
    '4194304',
  ),
  liveInitTimeoutMs: setting(
    positiveSetting,
    'how long a WebSocket may take to authenticate, in milliseconds',
    '5000',
  ),
  changePollMs: setting(
    wholeNumberSetting(1, 60_000),
    'how often the database is polled for changes and messages of other gateways, while ' +
      'a client subscribes, in milliseconds',
    '100',
  ),
  webhookRoles: setting(
    rolesSetting,
    'roles that may have webhooks besides admin, separated by commas; *: every user. They reach what ' +
      'platform.request may reach',
    'admin',
  ),
  webhookTimeoutMs: setting(
    positiveSetting,
    'longest a webhook waits for the answer of its address, in milliseconds',
    '10000',
  ),
  agentMaxRows: setting(positiveSetting, 'agents: rows of each list of an answer at /mcp', '200'),
  agentMaxBytes: setting(
    wholeNumberSetting(1024, 2_147_483_647),
    'agents: largest answer at /mcp, as JSON; a longer one is cut, and says so',
    '65536',
  ),
  agentGateway: setting(
    httpAddressSetting('http://127.0.0.1:4000'),
    'campus mcp: the gateway it calls',
    'http://127.0.0.1:4000',
  ),
  agentKey: setting(
    z.string().min(1).optional(),
    'campus mcp: the API key (or access token) it sends; as a variable, because other users see options',
  ),
  logLevel: setting(
    wordSetting(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']),
    'least severe line that is logged',
    'info',
  ),
  slowStatementMs: setting(
    countSetting,
    'statements of the database that take longer are logged, with an index that would help; 0: none are',
    '1000',
  ),
  serverTiming: setting(
    flagSetting,
    'GraphQL: report in the header Server-Timing how long an answer took',
    'true',
  ),
  metricsToken: setting(
    secretSetting(16).optional(),
    'required at /metrics, at least 16 characters, as Authorization: Bearer <token>; unset: ' +
      'anybody may read it',
  ),
  metricsPort: setting(
    portSetting.optional(),
    'separate port for /metrics, on the same HOST; unset: PORT serves it',
  ),
  otelExporterOtlpEndpoint: setting(
    httpAddressSetting('http://localhost:4318').optional(),
    'a collector of OpenTelemetry that accepts traces by OTLP over HTTP, e.g. http://localhost:4318; ' +
      'unset: nothing is traced',
  ),
  tracesPerSecond: setting(
    wholeNumberSetting(1, 1_000_000),
    'requests a second that each process traces, including those with a traceparent; after a ' +
      'pause ten times as many at once',
    '1',
  ),
} as const;
