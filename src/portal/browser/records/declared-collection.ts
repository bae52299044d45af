import type { CollectionDeclarationQuery } from '../../../generated/portal/records/records';

/** The declaration of a collection with its fields. */
export type DeclaredCollection = NonNullable<CollectionDeclarationQuery['collection']>;
