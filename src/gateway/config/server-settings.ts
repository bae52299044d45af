/** The settings of the HTTP server: its address, its processes, and what one caller may ask of it. */
import { z } from 'zod';
import { originsSetting, proxiesSetting } from '../../base/http/trusted-proxies.js';
import {
  bytesSetting,
  countSetting,
  flagSetting,
  httpAddressSetting,
  portSetting,
  positiveSetting,
  wholeNumberSetting,
  workersSetting,
} from '../../base/settings.js';

export const SERVER_SETTINGS = {
  port: {
    variable: 'PORT',
    default: '4000',
    schema: portSetting,
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
    schema: httpAddressSetting('https://school.example')
      .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
      .optional(),
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
  maintenance: {
    variable: 'MAINTENANCE',
    default: 'false',
    schema: flagSetting,
    meaning: 'answer 503 to everything but health checks',
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
    schema: wholeNumberSetting(0, 100),
    meaning:
      'jobs (messages, webhooks, schedules) this gateway does at once, on up to 4 connections of their ' +
      'own; 0: none, they are left to other gateways',
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
  rateLimitPerMinute: {
    variable: 'RATE_LIMIT_PER_MINUTE',
    default: '600',
    schema: positiveSetting,
    meaning:
      'requests a minute of one user, over all keys and sessions, and of one address without a credential',
  },
  connectionsPerAddress: {
    variable: 'CONNECTIONS_PER_ADDRESS',
    default: '2000',
    schema: positiveSetting,
    meaning:
      'connections one address may have open; without effect with TRUST_PROXY, as a proxy limits those of ' +
      'its clients',
  },
  bodyLimitBytes: {
    variable: 'BODY_LIMIT_BYTES',
    default: '8388608',
    schema: bytesSetting,
    meaning: 'largest request body of a caller with a credential',
  },
  anonymousBodyLimitBytes: {
    variable: 'ANONYMOUS_BODY_LIMIT_BYTES',
    default: '16384',
    schema: bytesSetting,
    meaning: 'largest request body of a caller without a credential, and of a login',
  },
  bodyRoomBytes: {
    variable: 'BODY_ROOM_BYTES',
    default: '67108864',
    schema: bytesSetting,
    meaning:
      'bytes of request bodies over 64 KiB that are in memory at the same time; others wait for five ' +
      'seconds, one caller has half of it, and a quarter is kept for callers that use none',
  },
  bodyMaxMembers: {
    variable: 'BODY_MAX_MEMBERS',
    default: '300000',
    schema: positiveSetting,
    meaning:
      'most members and list elements of a JSON body; parameters, forms and callers without a ' +
      'credential have 1000',
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
    meaning:
      'how long the reader of a streamed answer, or the sender of a large body, may pause before it is ' +
      'cut, in milliseconds',
  },
  streamMinBytesPerSecond: {
    variable: 'STREAM_MIN_BYTES_PER_SECOND',
    default: '16384',
    schema: countSetting,
    meaning:
      'what a reader that is waited for has to take of a streamed answer, and a sender to send of a body ' +
      'over 64 KiB, on an average of STREAM_STALL_MS; one that is slower is cut',
  },
} as const;
