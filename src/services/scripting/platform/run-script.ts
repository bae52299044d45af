/** `platform.runScript`. */
import { z } from 'zod';
import type { JsonValue } from '../../../base/json/json.js';
import type { ScriptError } from '../run-request.js';
import { jsonValue, readArguments } from './arguments.js';
import { type HostBinding, type HostCallContext, ScriptFailure } from './host-binding.js';

interface NestedRun {
  readonly value?: JsonValue | undefined;
  readonly error?: ScriptError | undefined;
}

/** Finds a stored script, checks that the caller may run it, and runs it to its end, one level deeper. */
export type RunNested = (context: HostCallContext, name: string, args: JsonValue) => Promise<NestedRun>;

/** The error of the called script is thrown in the caller. The runner limits the depth. */
export function createRunScriptBinding(services: { readonly runNested: RunNested }): HostBinding {
  return {
    name: 'runScript',
    kind: 'function',
    returns: 'value',
    call: async (context, args) => {
      const parameters = { name: z.string(), arguments: jsonValue.optional() };
      const { name, arguments: given = null } = readArguments('runScript', parameters, args);
      const { value, error } = await services.runNested(context, name, given);
      if (error !== undefined) throw new ScriptFailure(error);
      return value;
    },
  };
}
