/** The settings of scripts. Part of the list of `config.ts`. */
import { z } from 'zod';
import {
  bytesSetting,
  countSetting,
  daysSetting,
  listSetting,
  positiveSetting,
  type SettingValues,
  setting,
  wholeNumberSetting,
} from '../../base/settings.js';

export const SCRIPT_SETTINGS = {
  scriptCpuTimeMs: setting(
    positiveSetting,
    'processor time of a run of a script, in milliseconds; waiting for the platform is not counted',
    '10000',
  ),
  scriptWallTimeMs: setting(
    positiveSetting,
    'longest time that a run may take, in milliseconds, including waits for the platform',
    '60000',
  ),
  scriptBeforeTimeoutMs: setting(
    positiveSetting,
    'longest time that a write waits for its "before" scripts, queueing included, in ' +
      'milliseconds; then it is refused',
    '2000',
  ),
  scriptMemoryBytes: setting(
    wholeNumberSetting(2_097_152, 1_073_741_824),
    'heap of a run, 2 MiB to 1 GiB',
    '67108864',
  ),
  scriptOutputBytes: setting(bytesSetting, 'bytes that a run may print', '1048576'),
  scriptOutputLines: setting(positiveSetting, 'lines a run may print', '10000'),
  scriptHostCalls: setting(
    positiveSetting,
    'calls of the platform a run may make; each batch of a stream is one',
    '100000',
  ),
  scriptPayloadBytes: setting(
    wholeNumberSetting(1, 67_108_864),
    'largest arguments or result of a run, or of one call of the platform, in characters of JSON',
    '4194304',
  ),
  scriptCodeBytes: setting(bytesSetting, 'largest script', '262144'),
  scriptDepth: setting(
    wholeNumberSetting(1, 16),
    'how many scripts may start one another, by platform.runScript, by triggers, or by what they ' +
      'write and publish',
    '4',
  ),
  scriptConcurrentRuns: setting(
    wholeNumberSetting(1, 1000),
    'runs of this gateway at once, each with a thread and up to SCRIPT_MEMORY_BYTES; scripts ' +
      'started by these come on top',
    '20',
  ),
  scriptDomainRuns: setting(
    wholeNumberSetting(1, 1000),
    'the share of one domain in SCRIPT_CONCURRENT_RUNS',
    '16',
  ),
  scriptCallerRuns: setting(
    wholeNumberSetting(1, 1000),
    'the share of one user, or of one script that runs for nobody, in SCRIPT_CONCURRENT_RUNS',
    '4',
  ),
  scriptQueuedRuns: setting(
    countSetting,
    'runs that may wait for their turn, at most SCRIPT_WALL_TIME_MS; with more, the next is answered 503',
    '200',
  ),
  scriptCallerQueuedRuns: setting(countSetting, 'the share of one user in SCRIPT_QUEUED_RUNS', '50'),
  scriptBeforeRuns: setting(
    wholeNumberSetting(1, 500),
    'writes with "before" scripts at once, beside the runs above; each holds a connection, so ' +
      'always less than half of POOL_SIZE',
    '6',
  ),
  scriptQueuedBeforeRuns: setting(
    countSetting,
    'writes that may wait for this, without a connection and at most three quarters of ' +
      'SCRIPT_BEFORE_TIMEOUT_MS, half of them of one user; with more, the next is answered 503',
    '200',
  ),
  scriptStreams: setting(
    wholeNumberSetting(1, 1000),
    'lists that all runs of this gateway read at once by findStream, agg and readFile, half of ' +
      'them in one run; each holds a connection, so always at most half of POOL_SIZE',
    '8',
  ),
  scriptWarmThreads: setting(
    wholeNumberSetting(0, 64),
    'threads kept ready for runs, and as many for "before" scripts, about 10 MiB each, from the start ' +
      'if such scripts exist; a run that finds no idle thread starts one',
    '2',
  ),
  scriptRequests: setting(countSetting, 'calls of platform.request a run may make', '500'),
  scriptRequestTimeoutMs: setting(
    positiveSetting,
    'longest time that a script may let platform.request wait for a response, in milliseconds',
    '30000',
  ),
  scriptRequestMaxResponseBytes: setting(
    bytesSetting,
    'largest response that platform.request accepts, compressed or not',
    '2097152',
  ),
  scriptRequestPorts: setting(
    listSetting.transform((ports) => ports.map(Number)).pipe(z.array(z.number().int().min(1).max(65535))),
    'ports platform.request may reach, separated by commas',
    '80,443',
  ),
  scriptRequestPrivateHosts: setting(
    listSetting,
    'hosts that platform.request may reach although their address is not a public one, ' +
      'as host or host:port, separated by commas',
    '',
  ),
  keepScriptRunsDays: setting(daysSetting, 'how long runs of scripts and what they logged are kept', '30'),
  encryptionSecret: setting(
    z
      .string()
      .regex(/^\s*\S{32,}(\s+\S{32,})*\s*$/, 'expected secrets of at least 32 characters each')
      .optional(),
    'secret of platform.encrypt, at least 32 characters; several, separated by blanks, to rotate: ' +
      'the first encrypts, all decrypt; unset: created once and stored in the database',
  ),
} as const;

type Values = SettingValues<typeof SCRIPT_SETTINGS>;
type ShortName<Name> = Name extends `script${infer Short}` ? Uncapitalize<Short> : never;

/** The settings that are numbers, each called as its setting without `script`: `cpuTimeMs`. */
export type ScriptLimits = {
  readonly [Name in keyof Values as Values[Name] extends number ? ShortName<Name> : never]: number;
};

export function scriptLimitsOf(values: Values): ScriptLimits {
  const limits = Object.entries(values).flatMap(([name, value]) =>
    name.startsWith('script') && typeof value === 'number'
      ? [[name.charAt(6).toLowerCase() + name.slice(7), value]]
      : [],
  );
  return Object.fromEntries(limits);
}

/** The variable that sets a limit, for messages about a limit that was met: `SCRIPT_CPU_TIME_MS`. */
export function limitVariable(name: keyof ScriptLimits): string {
  return `SCRIPT_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** `more than 500 ms (SCRIPT_CPU_TIME_MS)`. */
export function printLimit(limits: ScriptLimits, name: keyof ScriptLimits): string {
  const unit = /(Ms|Bytes)$/.exec(name)?.[0] ?? '';
  const words = { Ms: ' ms', Bytes: ' bytes' }[unit] ?? '';
  return `${limits[name].toLocaleString('en')}${words} (${limitVariable(name)})`;
}
