/** `platform.log`. */
import { z } from 'zod';
import type { ScriptLog } from '../script-log.js';
import { jsonValue, readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

const options = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  data: jsonValue.optional(),
});

export function createLogBinding(services: { readonly scriptLog: ScriptLog }): HostBinding {
  return {
    name: 'log',
    kind: 'function',
    returns: 'value',
    call: async ({ scope, run, within }, args) => {
      const given = readArguments('log', { message: z.string(), options: options.prefault({}) }, args);
      const { level, data } = given.options;
      await services.scriptLog.write(scope, run, {
        level,
        message: given.message,
        data,
        isInTransaction: within !== undefined,
      });
      return undefined;
    },
  };
}
