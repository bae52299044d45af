/** Validates the arguments of a host call as strictly as a request. */
import { z } from 'zod';
import { type ErrorDetail, ServiceError } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import type { FunctionBinding, HostCallContext } from './host-binding.js';

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
  const parsed = z.object(shape).safeParse(given);
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

/** Any JSON: it came as such. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, 'a value is expected');

const MOST_SHOWN = 200;

function toDetail(issue: z.core.$ZodIssue, given: Readonly<Record<string, JsonValue>>): ErrorDetail {
  const parameter = issue.path.map(String).join('.');
  const sent = given[parameter];
  const isShown = typeof sent === 'string' ? sent.length <= MOST_SHOWN : typeof sent !== 'object';
  const detail = sent === undefined && issue.path.length === 1 ? 'is missing' : issue.message;
  return { parameter, detail, ...(sent !== undefined && isShown && { sent }) };
}
