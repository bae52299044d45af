/** The settings of scripts. Part of the list of `config.ts`. */
import { z } from 'zod';
import {
  bytesSetting,
  countSetting,
  daysSetting,
  listSetting,
  positiveSetting,
  wholeNumberSetting,
} from '../../base/settings.js';

export const SCRIPT_SETTINGS = {
  scriptCpuTimeMs: {
    variable: 'SCRIPT_CPU_TIME_MS',
    default: '10000',
    schema: positiveSetting,
    meaning: 'processor time of a run of a script, in milliseconds; waiting for the platform is not counted',
  },
  scriptWallTimeMs: {
    variable: 'SCRIPT_WALL_TIME_MS',
    default: '60000',
    schema: positiveSetting,
    meaning: 'longest a run may take, in milliseconds, waiting for the platform included',
  },
  scriptBeforeTimeoutMs: {
    variable: 'SCRIPT_BEFORE_TIMEOUT_MS',
    default: '2000',
    schema: positiveSetting,
    meaning:
      'longest a write waits for a script it asks before it is made, its place included, in ' +
      'milliseconds; then it is refused',
  },
  scriptMemoryBytes: {
    variable: 'SCRIPT_MEMORY_BYTES',
    default: '67108864',
    schema: wholeNumberSetting(2_097_152, 1_073_741_824),
    meaning: 'heap of a run, 2 MiB to 1 GiB',
  },
  scriptOutputBytes: {
    variable: 'SCRIPT_OUTPUT_BYTES',
    default: '1048576',
    schema: bytesSetting,
    meaning: 'what a run may print',
  },
  scriptOutputLines: {
    variable: 'SCRIPT_OUTPUT_LINES',
    default: '10000',
    schema: positiveSetting,
    meaning: 'lines a run may print',
  },
  scriptHostCalls: {
    variable: 'SCRIPT_HOST_CALLS',
    default: '100000',
    schema: positiveSetting,
    meaning: 'calls of the platform a run may make; each batch of a stream is one',
  },
  scriptPayloadBytes: {
    variable: 'SCRIPT_PAYLOAD_BYTES',
    default: '4194304',
    schema: wholeNumberSetting(1, 67_108_864),
    meaning:
      'arguments and result of a run, and what goes in or out of one call of the platform, as ' +
      'characters of JSON',
  },
  scriptCodeBytes: {
    variable: 'SCRIPT_CODE_BYTES',
    default: '262144',
    schema: bytesSetting,
    meaning: 'largest script',
  },
  scriptDepth: {
    variable: 'SCRIPT_DEPTH',
    default: '4',
    schema: wholeNumberSetting(1, 16),
    meaning:
      'how many scripts may start one another, by platform.runScript, by triggers, or by what they ' +
      'write and publish',
  },
  scriptConcurrentRuns: {
    variable: 'SCRIPT_CONCURRENT_RUNS',
    default: '20',
    schema: wholeNumberSetting(1, 1000),
    meaning:
      'runs of this gateway at once, each with a thread and up to SCRIPT_MEMORY_BYTES; scripts ' +
      'started by these come on top',
  },
  scriptDomainRuns: {
    variable: 'SCRIPT_DOMAIN_RUNS',
    default: '16',
    schema: wholeNumberSetting(1, 1000),
    meaning: 'of these, runs of one domain at once',
  },
  scriptCallerRuns: {
    variable: 'SCRIPT_CALLER_RUNS',
    default: '4',
    schema: wholeNumberSetting(1, 1000),
    meaning: 'of these, runs of one user at once, and of one script that runs for nobody',
  },
  scriptQueuedRuns: {
    variable: 'SCRIPT_QUEUED_RUNS',
    default: '200',
    schema: countSetting,
    meaning:
      'runs that may wait for their turn, at most SCRIPT_WALL_TIME_MS; with more, the next is answered 503',
  },
  scriptCallerQueuedRuns: {
    variable: 'SCRIPT_CALLER_QUEUED_RUNS',
    default: '50',
    schema: countSetting,
    meaning: 'of these, runs of one user',
  },
  scriptBeforeRuns: {
    variable: 'SCRIPT_BEFORE_RUNS',
    default: '6',
    schema: wholeNumberSetting(1, 500),
    meaning:
      'writes that ask scripts at once, in places of their own; each holds a connection, so less ' +
      'than half of POOL_SIZE whatever this says',
  },
  scriptQueuedBeforeRuns: {
    variable: 'SCRIPT_QUEUED_BEFORE_RUNS',
    default: '200',
    schema: countSetting,
    meaning:
      'writes that may wait for such a place, without a connection and at most three quarters of ' +
      'SCRIPT_BEFORE_TIMEOUT_MS, half of them of one user; with more, the next is answered 503',
  },
  scriptStreams: {
    variable: 'SCRIPT_STREAMS',
    default: '8',
    schema: wholeNumberSetting(1, 1000),
    meaning:
      'lists that all runs of this gateway read at once by findStream, agg and readFile, half of ' +
      'them in one run; each holds a connection, so at most half of POOL_SIZE whatever this says',
  },
  scriptWarmThreads: {
    variable: 'SCRIPT_WARM_THREADS',
    default: '2',
    schema: wholeNumberSetting(0, 64),
    meaning:
      'threads kept ready for runs, and as many for what writes ask, some 10 MiB each, from the start on ' +
      'where such scripts are stored; a run that finds none idle starts one',
  },
  scriptRequests: {
    variable: 'SCRIPT_REQUESTS',
    default: '500',
    schema: countSetting,
    meaning: 'calls of platform.request a run may make',
  },
  scriptRequestTimeoutMs: {
    variable: 'SCRIPT_REQUEST_TIMEOUT_MS',
    default: '30000',
    schema: positiveSetting,
    meaning: 'longest a script may have platform.request wait for an answer, in milliseconds',
  },
  scriptRequestMaxResponseBytes: {
    variable: 'SCRIPT_REQUEST_MAX_RESPONSE_BYTES',
    default: '2097152',
    schema: bytesSetting,
    meaning: 'largest answer platform.request takes, packed or unpacked',
  },
  scriptRequestPorts: {
    variable: 'SCRIPT_REQUEST_PORTS',
    default: '80,443',
    schema: listSetting
      .transform((ports) => ports.map(Number))
      .pipe(z.array(z.number().int().min(1).max(65535))),
    meaning: 'ports platform.request may reach, separated by commas',
  },
  scriptRequestPrivateHosts: {
    variable: 'SCRIPT_REQUEST_PRIVATE_HOSTS',
    default: '',
    schema: listSetting,
    meaning:
      'hosts that platform.request may reach though their address is not one of the public internet, ' +
      'as host or host:port, separated by commas',
  },
  keepScriptRunsDays: {
    variable: 'KEEP_SCRIPT_RUNS_DAYS',
    default: '30',
    schema: daysSetting,
    meaning: 'how long runs of scripts and what they logged are kept',
  },
  encryptionSecret: {
    variable: 'ENCRYPTION_SECRET',
    schema: z
      .string()
      .regex(/^\s*\S{32,}(\s+\S{32,})*\s*$/, 'expected secrets of at least 32 characters each')
      .optional(),
    meaning:
      'encrypts for platform.encrypt, at least 32 characters; several, separated by blanks, to ' +
      'rotate: the first encrypts, all decrypt; unset: made once and kept in the database',
  },
} as const;
