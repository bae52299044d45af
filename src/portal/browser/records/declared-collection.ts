import type { CollectionDeclarationQuery } from '../../../generated/portal/records/records';

/** What a collection says of its fields, where there is such a collection. */
export type DeclaredCollection = NonNullable<CollectionDeclarationQuery['collection']>;
