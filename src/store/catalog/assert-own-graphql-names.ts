import { ServiceError } from '../../base/errors.js';
import { type CollectionDefinition, graphqlNamesOf } from './collection-definition.js';

/**
 * Checks that a definition shares no GraphQL name with the other ones.
 *
 * @throws CONFLICT naming the other collection
 */
export function assertOwnGraphqlNames(
  definition: CollectionDefinition,
  all: readonly CollectionDefinition[],
): void {
  const own = Object.values(graphqlNamesOf(definition));
  for (const other of all) {
    if (other.name === definition.name) continue;
    const taken = Object.values(graphqlNamesOf(other)).find((name) => own.includes(name));
    if (taken === undefined) continue;
    throw new ServiceError(
      'CONFLICT',
      `${definition.name}: the GraphQL name "${taken}" is that of the collection ${other.name}; ` +
        'choose another singular or plural',
    );
  }
}
