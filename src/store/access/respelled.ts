/**
 * Texts that are equal but for case: the values of a unique field that ignores case, and the texts of other
 * collections that name such a value, or a part of the record such as a section, or agree with it. Those are
 * stored as the record with the key spells them, so a condition looks that spelling up.
 *
 * @see decisions 2 ("Keys that ignore case")
 */
import type { Collection } from '../../base/model/collection.js';
import { isKeyFolded } from '../../base/model/keys-of.js';
import type { Operand } from '../../base/model/operand.js';
import type { Path } from '../../base/model/path.js';
import type { SpelledTest, ValueTest } from '../../base/model/value-test.js';

/** The place of the records with the keys. */
export interface SpellingContext {
  readonly domain: string;
  readonly isRouted: boolean;
  readonly findCollection: (name: string) => Collection | undefined;
}

/** The test of equality at a declared path, which also finds other spellings where case is ignored. */
export function respelled(
  test: ValueTest,
  path: Path | undefined,
  {
    collection,
    spelling,
  }: { readonly collection: Collection; readonly spelling?: SpellingContext | undefined },
): ValueTest {
  if (path === undefined || spelling === undefined || (test.kind !== 'is' && test.kind !== 'in')) return test;
  const values = test.kind === 'is' ? [test.value] : test.values;
  // "5" and "2026" have one spelling: their plans need no look-up.
  const key = values.some(hasSpellings) ? keyAt(collection, path, spelling) : undefined;
  if (key === undefined) return test;
  const { domain, isRouted } = spelling;
  return { kind: 'spelled', values, at: { domain, isRouted, ...key } };
}

function hasSpellings(value: Operand): boolean {
  return typeof value === 'string' && (value.toLowerCase() !== value.toUpperCase() || /\s/.test(value));
}

function keyAt(
  collection: Collection,
  path: Path,
  { findCollection }: SpellingContext,
): Pick<SpelledTest['at'], 'collection' | 'field' | 'inner'> | undefined {
  const [field = ''] = path;
  if (path.length === 1 && isKeyFolded(collection, field))
    return { collection: collection.name, field, inner: [] };
  for (const { in: outer, members, target } of collection.links) {
    const member = members.find((one) => [...outer, one.field].join('.') === path.join('.'));
    const [named = '', ...inner] = member?.path ?? [];
    const other = member && findCollection(target);
    if (other?.fieldsByName.has(named) && (inner.length > 0 || isKeyFolded(other, named)))
      return { collection: target, field: named, inner };
  }
  return undefined;
}
