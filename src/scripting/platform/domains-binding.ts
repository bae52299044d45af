/** `platform.domains` and `platform.isTopDomain`. */
import { z } from 'zod';
import type { Domains } from '../../store/catalog/domains.js';
import { readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

/**
 * `Domains.listFor` says who may know of which domains: an admin of the top domain of all, others of their
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
 * It says the same of a domain that does not exist as of a sub-domain: nobody learns here which there are.
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
