/** `platform.isEduCollection`. */
import { z } from 'zod';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { readArguments } from './arguments.js';
import type { HostBinding } from './host-binding.js';

/**
 * True for collections declared in schema/collections; false for those registered at run time, and for
 * unknown names.
 *
 * @see interface 1.1 (Check If Edu Collection)
 */
export function createIsEduCollectionBinding(services: { readonly catalog: Catalog }): HostBinding {
  return {
    name: 'isEduCollection',
    kind: 'function',
    returns: 'value',
    call: (_context, args) => {
      const { collection } = readArguments('isEduCollection', { collection: z.string() }, args);
      return services.catalog.find(collection)?.isDeclared ?? false;
    },
  };
}
