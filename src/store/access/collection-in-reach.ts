/** What of a collection a caller may know and do, for a contract that is drawn for that caller. */
import type { Collection, Field } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';
import { findAccess, isInReach } from './access.js';

export interface CollectionInReach {
  readonly collection: Collection;
  /** The fields that are shown; `undefined`: no record may be read. */
  readonly readable: readonly Field[] | undefined;
  /** The fields that a new record may have; `undefined`: none may be made. */
  readonly creatable: readonly Field[] | undefined;
  /** The fields that may be changed; `undefined`: none. */
  readonly updatable: readonly Field[] | undefined;
  readonly mayDelete: boolean;
}

/** A collection of which everything may be known and done. */
export function wholeCollection(collection: Collection): CollectionInReach {
  const { fields } = collection;
  return { collection, readable: fields, creatable: fields, updatable: fields, mayDelete: true };
}

/** The collections the caller may do anything with, those registered at run time included. */
export function listCollectionsInReach(
  catalog: { list(): readonly Collection[] },
  scope: Scope,
): readonly CollectionInReach[] {
  const shown = catalog.list().filter((collection) => isInReach(scope, collection));
  const names = new Set(shown.map(({ name }) => name));
  return shown.map((collection) => {
    const fieldsFor = (verb: 'read' | 'create' | 'update') => {
      const access = findAccess(scope, collection, verb);
      if (access === undefined) return undefined;
      const withheld = verb === 'read' ? access.hiddenFields : access.readOnlyFields;
      return collection.fields
        .filter(({ name }) => !withheld.has(name))
        .map((field) => withoutUnknownTargets(field, names));
    };
    return {
      collection,
      readable: fieldsFor('read'),
      creatable: fieldsFor('create'),
      updatable: fieldsFor('update'),
      mayDelete: findAccess(scope, collection, 'delete') !== undefined,
    };
  });
}

/** A reference does not tell of collections that the caller may know nothing of. */
function withoutUnknownTargets(field: Field, known: ReadonlySet<string>): Field {
  return {
    ...field,
    targets: field.targets.filter((target) => known.has(target)),
    fields: field.fields.map((member) => withoutUnknownTargets(member, known)),
  };
}
