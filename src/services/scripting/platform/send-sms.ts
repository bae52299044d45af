/** `platform.sendSms`. */
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../base/json/json.js';
import type { Messages } from '../../messaging/messages.js';
import { jsonValue, readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

const SMS = z.strictObject({
  to: z.union([z.string(), z.array(z.string())]),
  text: z.string(),
  data: z.custom<JsonObject>(isJsonObject, 'an object is expected').optional(),
  template: z.string().optional(),
  category: z.string().optional(),
  recipient: jsonValue.optional(),
  batch: z.string().optional(),
  key: z.string().optional(),
});

/** Queued in the run's transaction if there is one. For a list of numbers it returns a list of messages. */
export function createSendSmsBinding(services: {
  readonly messages: Pick<Messages, 'sendSms'>;
}): HostBinding {
  return {
    name: 'sendSms',
    kind: 'function',
    returns: 'value',
    call: async ({ scope, within }, args) => {
      const { sms } = readArguments('sendSms', { sms: SMS }, args);
      const messages = await services.messages.sendSms(scope, sms, within);
      const shown = messages.map(({ id, state, recipients }) => ({ id, state, to: recipients[0] ?? '' }));
      return typeof sms.to === 'string' ? (shown[0] ?? null) : shown;
    },
  };
}
