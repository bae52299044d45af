/** `PageShape`: what JSON to print of a page of records, its cursors, its place in the order and the count of all, as a plain value. */
import type { Member } from './shape.js';

export interface PageShape {
  readonly members: readonly PageMember[];
}

export type PageMember =
  | { readonly key: string; readonly kind: 'constant'; readonly text: string }
  /** The records, as a list. */
  | { readonly key: string; readonly kind: 'records'; readonly members: readonly Member[] }
  /** The records with their cursors, as a list. */
  | { readonly key: string; readonly kind: 'edges'; readonly members: readonly EdgeMember[] }
  | { readonly key: string; readonly kind: 'pageInfo'; readonly members: readonly PageInfoMember[] }
  /** How many records match in all. */
  | { readonly key: string; readonly kind: 'count' };

export type EdgeMember =
  | { readonly key: string; readonly kind: 'constant'; readonly text: string }
  | { readonly key: string; readonly kind: 'record'; readonly members: readonly Member[] }
  | { readonly key: string; readonly kind: 'cursor' };

export type PageInfoMember =
  | { readonly key: string; readonly kind: 'constant'; readonly text: string }
  | {
      readonly key: string;
      readonly kind: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor';
    };
