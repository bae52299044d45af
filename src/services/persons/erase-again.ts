import { randomUUID } from 'node:crypto';
import { systemPrincipal } from '../../base/model/scope.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { DoneErasure } from './erasure-work.js';
import type { Persons } from './persons.js';

export interface ErasureServices {
  readonly persons: Persons;
  readonly domains: Domains;
}

/**
 * Erases the persons of a list again whom a restored backup brought back: in the domain of the list, or else
 * in the top one. Returns their number. Called again after a fault, it continues.
 *
 * @throws the signal's reason
 */
export async function eraseAgain(
  { persons, domains }: ErasureServices,
  list: readonly DoneErasure[],
  signal?: AbortSignal,
): Promise<number> {
  let erased = 0;
  for (const done of list) {
    signal?.throwIfAborted();
    const domain = domains.find(done.domain) ?? domains.top();
    if (domain === undefined) continue;
    const principal = systemPrincipal('command line', ['admin'], domain.id);
    const scope = { domain, principal, requestId: randomUUID() };
    const person = await persons.findAgain(scope, done);
    if (person === undefined) continue;
    await persons.erase(scope, person, done.pseudonym);
    erased += 1;
  }
  return erased;
}
