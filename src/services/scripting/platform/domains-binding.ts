/** `platform.domains` and `platform.isTopDomain`. */
import { z } from 'zod';
import type { Domains } from '../../../store/catalog/domains.js';
import { readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

/**
 * `Domains.listFor` decides which domains the caller may know: all for an admin of the top domain, else its
 * own.
 */
export function createDomainsBinding(services: { readonly domains: Domains }): HostBinding {
  return {
    name: 'domains',
    kind: 'function',
    returns: 'value',
    call: ({ scope }, args) => {
      readArguments('domains', {}, args);
      return services.domains.listFor(scope).map(({ id, name, parentId, timeZone }) => ({
        id,
        name,
        timeZone,
        isTop: parentId === undefined,
      }));
    },
  };
}

/**
 * Gives the same answer for a domain that does not exist as for a sub-domain, so that existing domains are
 * not disclosed.
 */
export function createIsTopDomainBinding(services: { readonly domains: Domains }): HostBinding {
  return {
    name: 'isTopDomain',
    kind: 'function',
    returns: 'value',
    call: ({ scope }, args) => {
      const { domain = scope.domain.id } = readArguments(
        'isTopDomain',
        { domain: z.string().optional() },
        args,
      );
      return services.domains.top()?.id === domain;
    },
  };
}
