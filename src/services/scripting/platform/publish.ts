/** `platform.publish`. */
import { z } from 'zod';
import type { Topics } from '../../messaging/topics.js';
import { jsonValue, readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

/** A message published by a `before` script is sent with the write, or not at all. */
export function createPublishBinding(services: { readonly topics: Pick<Topics, 'publish'> }): HostBinding {
  return {
    name: 'publish',
    kind: 'function',
    returns: 'value',
    call: async ({ scope, within }, args) => {
      const { topic, message } = readArguments('publish', { topic: z.string(), message: jsonValue }, args);
      await services.topics.publish(scope, topic, message, { within });
      return undefined;
    },
  };
}
