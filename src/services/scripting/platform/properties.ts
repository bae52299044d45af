/** `platform.property` and `platform.properties`: the settings of the school, as an admin sees them. */
import { z } from 'zod';
import type { Domains } from '../../../store/catalog/domains.js';
import { readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

/** Secrets are masked: a script that must send one can use `platform.encrypt`. */
export function createPropertyBinding(services: { readonly domains: Domains }): HostBinding {
  return {
    name: 'property',
    kind: 'function',
    returns: 'value',
    call: ({ scope }, args) => {
      const { name } = readArguments('property', { name: z.string() }, args);
      return services.domains.listProperties(scope).find((property) => property.name === name)?.value ?? null;
    },
  };
}

export function createPropertiesBinding(services: { readonly domains: Domains }): HostBinding {
  return {
    name: 'properties',
    kind: 'function',
    returns: 'value',
    call: ({ scope }, args) => {
      readArguments('properties', {}, args);
      const properties = services.domains.listProperties(scope);
      return Object.fromEntries(properties.map(({ name, value }) => [name, value]));
    },
  };
}
