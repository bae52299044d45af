/** The error of a failed run: the script's own with its place, or the limit it met. */
import { ERRORS, type ErrorDetail, isErrorCode, tryTo } from '../../base/errors.js';
import { MAX_JSON_DEPTH } from '../../base/json/body-shape.js';
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import type { GuestError } from './guest/guest-message.js';
import { PRELUDE_NAME } from './guest/prelude.js';
import type { ScriptError } from './run-request.js';
import { printLimit, type ScriptLimits } from './script-settings.js';

/** What is said of a run that met a limit, and the setting of the limit. */
const LIMITS = {
  cpuTime: ['it took more processor time than', 'cpuTimeMs'],
  wallTime: ['it took longer than', 'wallTimeMs'],
  memory: ['it needed more memory than', 'memoryBytes'],
  outputBytes: ['it printed more than', 'outputBytes'],
  outputLines: ['it printed more lines than', 'outputLines'],
  hostCalls: ['it called the platform more often than', 'hostCalls'],
  stack: ['its calls were nested too deeply, as in a recursion without an end', undefined],
} as const satisfies Record<string, readonly [string, keyof ScriptLimits | undefined]>;

type MetLimit = keyof typeof LIMITS;

/** `at` is the position that the guest reported, if it still could. */
export function scriptLimitError(
  script: string,
  limit: MetLimit,
  { limits, at, wallTimeMs }: { limits: ScriptLimits; at: GuestError | undefined; wallTimeMs?: number },
): ScriptError {
  const [words, setting] = LIMITS[limit];
  const inForce = wallTimeMs === undefined ? limits : { ...limits, wallTimeMs };
  const bound = setting === undefined ? '' : ` ${printLimit(inForce, setting)}`;
  return {
    name: 'InternalError',
    message: `${script} was ended: ${words}${bound}`,
    code: 'LIMIT_EXCEEDED',
    status: ERRORS.LIMIT_EXCEEDED.status,
    limit: limit === 'outputBytes' || limit === 'outputLines' ? 'output' : limit,
    ...placeIn(script, at?.stack ?? ''),
  };
}

/** The script returned a value that cannot be serialized. */
export function deepResultError(script: string): ScriptError {
  return {
    name: 'RangeError',
    message: `the result of ${script} is nested deeper than ${MAX_JSON_DEPTH} levels`,
    code: 'SCRIPT_FAILED',
    status: ERRORS.SCRIPT_FAILED.status,
    ...placeIn(script, ''),
  };
}

/** The run was ended because nobody waits for it any more, or with its thread. */
export function scriptEndedError(script: string, message: string, at: GuestError | undefined): ScriptError {
  return {
    name: 'AbortError',
    message: `${script} was ended: ${message}`,
    ...placeIn(script, at?.stack ?? ''),
  };
}

/** The error the script threw; running out of memory or stack is reported like every other limit. */
export function scriptThrownError(script: string, thrown: GuestError, limits: ScriptLimits): ScriptError {
  if (thrown.name === 'InternalError') {
    if (thrown.message === 'out of memory') return scriptLimitError(script, 'memory', { limits, at: thrown });
    if (thrown.message === 'stack overflow') return scriptLimitError(script, 'stack', { limits, at: thrown });
  }
  return {
    name: thrown.name,
    message: [thrown.message, ADVICE.get(thrown.message) ?? []].flat().join('; '),
    ...readRefusal(thrown.refusal),
    ...placeIn(script, thrown.stack),
  };
}

/** By the engine's message about a global that only other runtimes have: what to use instead. */
const ADVICE = new Map([
  ["'module' is not defined", 'give the result by `export default`'],
  ["'exports' is not defined", 'give the result by `export default`'],
  ["'Intl' is not defined", 'platform.format writes days, times and amounts'],
]);

/** The script may have written anything into its error: an unknown code is left out. */
function readRefusal(text: string | undefined): Pick<ScriptError, 'code' | 'status' | 'errors'> {
  // Details longer than an error has room for are cut off.
  const refusal = tryTo(() => JSON.parse(text ?? '') as JsonValue);
  if (!isJsonObject(refusal) || !isErrorCode(refusal.code)) return {};
  const errors = Array.isArray(refusal.errors) ? refusal.errors.filter(isDetail) : undefined;
  return { code: refusal.code, status: ERRORS[refusal.code].status, ...(errors && { errors }) };
}

function isDetail(value: unknown): value is ErrorDetail {
  return typeof value === 'object' && value !== null && 'detail' in value && typeof value.detail === 'string';
}

/**
 * A line of a stack is `    at name (file:line:column)`; those of the platform are not the script's business.
 */
function placeIn(script: string, stack: string): Pick<ScriptError, 'script' | 'line' | 'column' | 'stack'> {
  const lines = stack
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes(`${PRELUDE_NAME}:`) && !line.includes('(native)'));
  for (const line of lines) {
    const start = line.lastIndexOf(`${script}:`);
    const [, row, column] = start < 0 ? [] : (/^:(\d+):(\d+)/.exec(line.slice(start + script.length)) ?? []);
    if (row !== undefined) {
      return { script, line: Number(row), column: Number(column), stack: lines.join('\n') };
    }
  }
  return { script, stack: lines.join('\n') };
}
