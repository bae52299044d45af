/** `platform.signToken`. */
import { z } from 'zod';
import type { UserTokens } from '../../auth/user-tokens.js';
import { jsonValue, readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

const claims = z.strictObject({
  roles: z.array(z.string()).optional(),
  scopes: jsonValue.optional(),
  expiresInSeconds: z.number().optional(),
});

export function createSignTokenBinding(services: { readonly userTokens: UserTokens }): HostBinding {
  return {
    name: 'signToken',
    kind: 'function',
    returns: 'value',
    call: async ({ scope, within }, args) => {
      const given = readArguments('signToken', { claims: claims.prefault({}) }, args);
      const { token, expiresAt, roles } = await services.userTokens.sign(
        scope.principal,
        given.claims,
        within,
      );
      return { token, expiresAt: expiresAt.toISOString(), roles: [...roles] };
    },
  };
}
