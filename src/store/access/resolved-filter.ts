import type { Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import type { Place } from '../../base/model/place.js';
import type { ValueTest } from '../../base/model/value-test.js';
import type { Readable } from './access.js';

/**
 * A filter whose conditions have their place, test and right, so that it compiles to SQL without a question.
 * Paths start at the record, or at the element of the `element` around them.
 */
export type ResolvedFilter =
  | { readonly kind: 'all' | 'any'; readonly filters: readonly ResolvedFilter[] }
  | { readonly kind: 'not'; readonly filter: ResolvedFilter }
  | ResolvedTest
  | { readonly kind: 'isNull' | 'exists'; readonly path: Path; readonly place: Place }
  | ResolvedElement
  | ResolvedRecord
  | { readonly kind: 'document'; readonly filter: DocumentFilter };

export interface ResolvedTest {
  readonly kind: 'test';
  readonly path: Path;
  readonly place: Place;
  /** One of the values at these paths satisfies the test. */
  readonly paths: readonly Path[];
  readonly test: ValueTest;
}

export interface ResolvedElement {
  readonly kind: 'element';
  readonly path: Path;
  readonly filter: ResolvedFilter;
}

export interface ResolvedRecord {
  readonly kind: 'record';
  readonly path: Path;
  readonly place: Place;
  readonly target: Readable;
  readonly filter: ResolvedFilter;
}

/** A condition of MongoDB's language, whose meaning is that of the JSON alone. */
type DocumentFilter = Extract<Filter, { readonly kind: 'match' | 'expression' }>;
