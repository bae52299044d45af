/** `platform.encrypt` and `platform.decrypt`. */
import { z } from 'zod';
import type { TextEncryption } from '../../auth/text-encryption.js';
import { readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

export function createEncryptBinding(services: { readonly encryption: TextEncryption }): HostBinding {
  return {
    name: 'encrypt',
    kind: 'function',
    returns: 'value',
    call: ({ scope }, args) => {
      const { text } = readArguments('encrypt', { text: z.string() }, args);
      return services.encryption.encrypt(scope.domain.id, text);
    },
  };
}

export function createDecryptBinding(services: { readonly encryption: TextEncryption }): HostBinding {
  return {
    name: 'decrypt',
    kind: 'function',
    returns: 'value',
    call: ({ scope }, args) => {
      const { encrypted } = readArguments('decrypt', { encrypted: z.string() }, args);
      return services.encryption.decrypt(scope.domain.id, encrypted);
    },
  };
}
