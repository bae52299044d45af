/**
 * The types of the fields of the first level of documents. The inspection of columns does not give them: it
 * says what texts could be read as, but for a document `"Y"` is a text and no yes, and `"12"` no number.
 */
import { isExactNumber } from '../../../base/json/json.js';

export interface FieldEvidence {
  /** By the field: what its values are, in all documents. */
  readonly valueKinds: Map<string, Set<EvidenceKind>>;
  /** By the fields in which lists stand: what the elements of these are. */
  readonly elementKinds: Map<string, Set<EvidenceKind>>;
}

/** `other`: a list, or null. */
export type EvidenceKind = 'text' | 'number' | 'boolean' | 'instant' | 'object' | 'other';

/** As the dates of a dump are told. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function createFieldEvidence(): FieldEvidence {
  return { valueKinds: new Map(), elementKinds: new Map() };
}

export function addFieldEvidence(
  { valueKinds, elementKinds }: FieldEvidence,
  document: Readonly<Record<string, unknown>>,
): void {
  for (const name in document) {
    const value = document[name];
    // A null says nothing of the others.
    if (value === null) continue;
    kindsIn(valueKinds, name).add(kindOf(value));
    if (!Array.isArray(value)) continue;
    const kinds = kindsIn(elementKinds, name);
    for (const element of value) kinds.add(kindOf(element));
  }
}

function kindsIn(kindsByField: Map<string, Set<EvidenceKind>>, name: string): Set<EvidenceKind> {
  const known = kindsByField.get(name);
  if (known !== undefined) return known;
  const kinds = new Set<EvidenceKind>();
  kindsByField.set(name, kinds);
  return kinds;
}

function kindOf(value: unknown): EvidenceKind {
  if (typeof value === 'string') return INSTANT.test(value) ? 'instant' : 'text';
  if (typeof value === 'number' || isExactNumber(value)) return 'number';
  if (typeof value === 'boolean') return 'boolean';
  // No declared list has lists or null as its elements.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? 'object' : 'other';
}
