/**
 * The bindings of scripts: functions of the gateway, each with a name in the global `platform` object.
 *
 * A binding runs in the gateway as the run's principal: it passes the run's `Scope` to the store, which
 * enforces the rights. Only JSON crosses the boundary. The arguments are untrusted, because the author of the
 * script chose all of them, so a binding validates them as strictly as a request (`readArguments`).
 */

import { z } from 'zod';
import { type ErrorDetail, ServiceError } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import type { Scope } from '../../../base/model/scope.js';
import type { JsonText } from '../../../base/scalars/json-text.js';
import type { Transaction } from '../../../store/database/queryable.js';
import type { ScriptError } from '../run-request.js';

/** The run that makes a call. */
export interface CallingRun {
  readonly id: string;
  /** The name of the script. */
  readonly name: string;
  /** 1 for a script started from outside, plus one for each script that started another. */
  readonly depth: number;
}

export interface HostCallContext {
  /** The scope in which the script acts. Its `signal` is the run's. */
  readonly scope: Scope;
  readonly run: CallingRun;
  /** The transaction of the whole run (for a `before` script); its statements end with the run. */
  readonly within: Transaction | undefined;
  /**
   * Aborts when the run ends: killed, timed out, or abandoned by its caller. Everything that takes time must
   * heed it.
   */
  readonly signal: AbortSignal;
  /**
   * Runs work all or nothing: in the run's transaction if there is one, else in a new one. When the run is
   * killed, the current statement is cancelled and the transaction rolled back.
   */
  transaction<T>(work: (within: Transaction) => Promise<T>): Promise<T>;
}

/** Thrown by a binding to pass on the error of another script, which is not a fault of ours. */
export class ScriptFailure extends Error {
  readonly error: ScriptError;

  constructor(error: ScriptError) {
    const place = error.line === undefined ? '' : ` (${error.script}:${error.line}:${error.column})`;
    super(`${error.message}${place}`);
    this.error = error;
  }
}

export type HostBinding = FunctionBinding | StreamBinding;

interface NamedBinding {
  /** The name below `platform`: `request`, `db.getCount`. */
  readonly name: string;
  /** How often one run may call it. Default: the limit of all host calls. */
  readonly maxCalls?: number | undefined;
  /** A script with `@query` may not call what changes something. */
  readonly changes?: true;
}

export interface FunctionBinding extends NamedBinding {
  readonly kind: 'function';
  /**
   * The result for the script: the value itself, or a promise of it. `await` accepts both, and a function
   * passed as the last argument is called with `(error, result)` in both cases. A failed promise that nobody
   * handles fails the run.
   */
  readonly returns: 'value' | 'promise';
  /** @throws ServiceError, which the script gets as an `Error` with `code`, `status` and `errors` */
  call(
    context: HostCallContext,
    args: readonly JsonValue[],
  ): Promise<JsonValue | JsonText | undefined> | JsonValue | JsonText | undefined;
}

/**
 * A list of any length, read batch by batch as the script consumes it, with at most one batch in transit.
 *
 * With functions as the last arguments, the script gets `_eod(record)` for each record, awaited, then
 * `_com(error)` once; without them, an iterable for `for await` or `for`.
 */
export interface StreamBinding extends NamedBinding {
  readonly kind: 'stream';
  /**
   * The part of a batch that exceeds one answer is sent with the next. Leaving the loop closes the stream; so
   * does the end of the run.
   */
  open(
    context: HostCallContext,
    args: readonly JsonValue[],
  ): AsyncIterable<readonly (JsonValue | JsonText)[]>;
}

/**
 * The arguments of `platform.<name>` by the names of its parameters, in their order. An argument that is left
 * out, undefined or null counts as not given.
 *
 *   const { topic, message } = readArguments('publish', { topic: z.string(), message: jsonValue }, args);
 *
 * @throws INVALID_VALUE naming each argument at fault, what is expected there and what came
 */
export function readArguments<Shape extends z.ZodRawShape>(
  name: string,
  shape: Shape,
  args: readonly JsonValue[],
): z.output<z.ZodObject<Shape>> {
  const parameters = Object.keys(shape);
  if (args.length > parameters.length) {
    throw new ServiceError(
      'INVALID_VALUE',
      `platform.${name}(${parameters.join(', ')}) takes ${parameters.length} arguments, not ${args.length}`,
    );
  }
  const given = Object.fromEntries(
    parameters.flatMap((parameter, index) => {
      const value = args[index];
      return value === undefined || value === null ? [] : [[parameter, value]];
    }),
  );
  // If a value fits no type of a union, the message has the reason of each type.
  const parsed = z.object(shape).safeParse(given, {
    error: ({ code, errors }) =>
      code === 'invalid_union' ? (errors as Faults).map(([first]) => first?.message).join('; ') : undefined,
  });
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map((issue) => toDetail(issue, given));
  const list = errors.map((error) => `${error.parameter}: ${error.detail}`).join('; ');
  throw new ServiceError('INVALID_VALUE', `platform.${name}(${parameters.join(', ')}): ${list}`, { errors });
}

/** The function `platform.<name>`, called with its parameters by name. Default: it returns a value. */
export function bindFunction<Shape extends z.ZodRawShape>(
  name: string,
  shape: Shape,
  call: (
    given: z.output<z.ZodObject<Shape>>,
    context: HostCallContext,
  ) => ReturnType<FunctionBinding['call']>,
  rest: Partial<Pick<FunctionBinding, 'returns' | 'maxCalls'>> = {},
): FunctionBinding {
  return {
    ...{ name, kind: 'function', returns: 'value', ...rest },
    call: (context, args) => call(readArguments(name, shape, args), context),
  };
}

/** A function that changes or sends something. */
export const bindChange: typeof bindFunction = (...sent) => ({ ...bindFunction(...sent), changes: true });

/** Any JSON: it came as such. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, 'a value is expected');

const MOST_SHOWN = 200;

type Faults = readonly (readonly { readonly message: string }[])[];

function toDetail(issue: z.core.$ZodIssue, given: Readonly<Record<string, JsonValue>>): ErrorDetail {
  const parameter = issue.path.map(String).join('.');
  const sent = given[parameter];
  const isShown = typeof sent === 'string' ? sent.length <= MOST_SHOWN : typeof sent !== 'object';
  const detail = sent === undefined && issue.path.length === 1 ? 'is missing' : issue.message;
  return { parameter, detail, ...(sent !== undefined && isShown && { sent }) };
}
