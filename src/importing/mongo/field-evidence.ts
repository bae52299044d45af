/**
 * What stands in the fields of the first level of documents, where the inspection of columns does not say it:
 * that says what texts could be read as, and of a list that it is one. Documents are taken as they are, so
 * that a `"Y"` is no yes and a `"12"` no number.
 */
import { isExactNumber } from '../../json.js';

export interface FieldEvidence {
  /** The fields in which a text stands. */
  readonly withTexts: Set<string>;
  /** By the fields in which lists stand: what the elements of these are. */
  readonly elementKinds: Map<string, Set<ElementKind>>;
}

export type ElementKind = 'text' | 'number' | 'boolean' | 'instant' | 'object' | 'other';

/** As the dates of a dump are told. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function createFieldEvidence(): FieldEvidence {
  return { withTexts: new Set(), elementKinds: new Map() };
}

export function addFieldEvidence(
  { withTexts, elementKinds }: FieldEvidence,
  document: Readonly<Record<string, unknown>>,
): void {
  for (const name in document) {
    const value = document[name];
    if (typeof value === 'string') withTexts.add(name);
    if (!Array.isArray(value)) continue;
    const kinds = elementKinds.get(name) ?? new Set();
    elementKinds.set(name, kinds);
    for (const element of value) kinds.add(kindOf(element));
  }
}

function kindOf(element: unknown): ElementKind {
  if (typeof element === 'string') return INSTANT.test(element) ? 'instant' : 'text';
  if (typeof element === 'number' || isExactNumber(element)) return 'number';
  if (typeof element === 'boolean') return 'boolean';
  // No declared list has lists or null as its elements.
  return typeof element === 'object' && element !== null && !Array.isArray(element) ? 'object' : 'other';
}
