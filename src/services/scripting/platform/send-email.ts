/** `platform.sendEmail`. */
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../base/json/json.js';
import type { Messages } from '../../messaging/messages.js';
import { readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

const addresses = z.union([z.string(), z.array(z.string())]);
const values = z.custom<JsonObject>(isJsonObject, 'an object is expected');

const EMAIL = z.strictObject({
  to: addresses,
  cc: addresses.optional(),
  bcc: addresses.optional(),
  replyTo: z.string().optional(),
  subject: z.string().optional(),
  text: z.string().optional(),
  html: z.string().optional(),
  template: z.string().optional(),
  data: values.optional(),
  attachments: z
    .array(
      z.strictObject({
        name: z.string().default(''),
        contentType: z.string().optional(),
        content: z.string().optional(),
        fileId: z.string().optional(),
      }),
    )
    .optional(),
  key: z.string().optional(),
});

/**
 * Queued in the run's transaction if there is one: a `before` script that refuses its write sends nothing.
 */
export function createSendEmailBinding(services: {
  readonly messages: Pick<Messages, 'sendEmail'>;
}): HostBinding {
  return {
    name: 'sendEmail',
    kind: 'function',
    returns: 'value',
    call: async ({ scope, within }, args) => {
      const { email } = readArguments('sendEmail', { email: EMAIL }, args);
      const { id, state } = await services.messages.sendEmail(scope, email, within);
      return { id, state };
    },
  };
}
