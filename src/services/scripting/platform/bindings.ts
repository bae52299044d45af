/**
 * All members of a script's global `platform`, in the order of the interface document. (`platform.print`,
 * `platform.transaction` and `console`: guest/prelude.ts.)
 *
 * Each binding is declared in schema/platform.d.ts with an example; a test fails if one is not, or if no test
 * calls it.
 *
 * @see interface 1.1, 1.2
 */

import { createCryptoBindings } from './crypto.js';
import { createAggregateBinding, createDbBindings, type DbServices } from './db/db-bindings.js';
import { createDomainsBinding, createIsTopDomainBinding } from './domains-binding.js';
import { createIsEduCollectionBinding } from './edu-collections.js';
import { createDecryptBinding, createEncryptBinding } from './encrypt-binding.js';
import { createFormatBindings } from './format-bindings.js';
import type { HostBinding } from './host-binding.js';
import { createLogBinding } from './log.js';
import { createPropertiesBinding, createPropertyBinding } from './properties.js';
import { createPublishBinding } from './publish.js';
import { createRequestBinding, type RequestServices } from './request.js';
import { createRunScriptBinding } from './run-script.js';
import { createSendEmailBinding } from './send-email.js';
import { createSendSmsBinding } from './send-sms.js';
import { createSignTokenBinding } from './sign-token.js';

/** The services of all bindings together. */
export type PlatformServices = RequestServices &
  DbServices &
  Parameters<typeof createDomainsBinding>[0] &
  Parameters<typeof createEncryptBinding>[0] &
  Parameters<typeof createPublishBinding>[0] &
  Parameters<typeof createLogBinding>[0] &
  Parameters<typeof createSendEmailBinding>[0] &
  Parameters<typeof createSendSmsBinding>[0] &
  Parameters<typeof createRunScriptBinding>[0] &
  Parameters<typeof createIsEduCollectionBinding>[0] &
  Parameters<typeof createSignTokenBinding>[0];

export function createBindings(services: PlatformServices): readonly HostBinding[] {
  return [
    createRequestBinding(services),
    createDomainsBinding(services),
    createIsTopDomainBinding(services),
    createEncryptBinding(services),
    createDecryptBinding(services),
    createPublishBinding(services),
    createLogBinding(services),
    createPropertyBinding(services),
    createPropertiesBinding(services),
    createSendEmailBinding(services),
    createSendSmsBinding(services),
    createAggregateBinding(services),
    createRunScriptBinding(services),
    createIsEduCollectionBinding(services),
    createSignTokenBinding(services),
    ...createCryptoBindings(),
    ...createFormatBindings(services),
    ...createDbBindings(services),
  ];
}
