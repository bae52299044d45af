import type {
  CollectionDeclarationQuery,
  DeclaredFieldFragment,
} from '../../../generated/portal/records/records';

/** A field as the collection declares it, with the fields of an object within. */
export interface DeclaredField extends DeclaredFieldFragment {
  readonly fields?: readonly DeclaredField[];
}

export interface ReferenceValue {
  readonly value: string;
  readonly label?: string;
  readonly collection?: string;
}

export function isReferenceValue(value: unknown): value is ReferenceValue {
  return typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'string';
}

/** The declaration of a collection with its fields. */
export type DeclaredCollection = NonNullable<CollectionDeclarationQuery['collection']>;
