/**
 * Records may hold undeclared fields, so naming one is not an error; but a typo finds nothing and looks the
 * same. The caller is therefore told of a declared name that is close.
 *
 * @see decisions 2, 3
 */
import { didYouMean } from '../../did-you-mean.js';
import type { Collection } from '../../model/collection.js';
import type { Path } from '../../model/path.js';
import type { Scope } from '../../model/scope.js';
import type { EffectiveAccess } from '../access/access.js';

/** The members of every record beside its fields. */
const STANDARD_NAMES: ReadonlySet<string> = new Set(['_id', 'created_on']);
const MAX_NAME_LENGTH = 64;
/** Limited, because each name is compared with every declared one, and a request may name thousands. */
const MAX_COMPARED = 20;

/** Adds a hint for each undeclared name that is close to a declared one which the caller may read. */
export function hintAtDeclaredNames(
  paths: readonly Path[],
  asked: { readonly scope: Scope; readonly collection: Collection; readonly access: EffectiveAccess },
): void {
  const { scope, collection, access } = asked;
  if (scope.onHint === undefined) return;
  let compared = 0;
  for (const [name] of paths) {
    if (name === undefined || collection.fieldsByName.has(name) || STANDARD_NAMES.has(name)) continue;
    if (name.length > MAX_NAME_LENGTH) continue;
    if (compared === MAX_COMPARED) return;
    compared += 1;
    const readable = collection.fields
      .map((field) => field.name)
      .filter((one) => !access.hiddenFields.has(one));
    const suggestion = didYouMean(name, readable);
    if (suggestion !== '') scope.onHint(`No field "${name}" is declared on ${collection.name}.${suggestion}`);
  }
}
