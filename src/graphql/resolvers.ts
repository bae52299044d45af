/** The one list of resolvers: all that GraphQL and REST can reach. */
import type { ApiKeys } from '../auth/api-keys.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { Catalog } from '../store/catalog.js';
import type { RecordStore } from '../store/record-store.js';
import { AuditResolver } from './audit-resolver.js';
import { AuthResolver } from './auth-resolver.js';
import { CollectionResolver } from './collection-resolver.js';
import type { PageSizes } from './page-arguments.js';
import { RecordResolver } from './record-resolver.js';

/** What the resolvers work with, made by `app.ts`. */
export interface ResolverServices {
  readonly store: RecordStore;
  readonly catalog: Catalog;
  readonly authenticator: Authenticator;
  readonly apiKeys: ApiKeys;
  readonly pages: PageSizes;
}

export interface Resolvers {
  readonly records: RecordResolver;
  readonly collections: CollectionResolver;
  readonly auth: AuthResolver;
  readonly audit: AuditResolver;
}

export const RESOLVER_CLASSES = [RecordResolver, CollectionResolver, AuthResolver, AuditResolver] as const;

export function createResolvers(services: ResolverServices): Resolvers {
  return {
    records: new RecordResolver(services),
    collections: new CollectionResolver(services),
    auth: new AuthResolver(services),
    audit: new AuditResolver(services),
  };
}
