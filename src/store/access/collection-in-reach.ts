/** A caller's rights on a collection, for a contract generated for that caller. */
import type { Collection, Field } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess, isInReach } from './access.js';

export interface CollectionInReach {
  readonly collection: Collection;
  /** The visible fields; `undefined`: no record may be read. */
  readonly readable: readonly Field[] | undefined;
  /** The fields of a new record; `undefined`: none may be created. */
  readonly creatable: readonly Field[] | undefined;
  /** The fields that may be changed; `undefined`: none. */
  readonly updatable: readonly Field[] | undefined;
  readonly mayDelete: boolean;
}

/** A collection without any restriction. */
export function wholeCollection(collection: Collection): CollectionInReach {
  const { fields } = collection;
  return { collection, readable: fields, creatable: fields, updatable: fields, mayDelete: true };
}

/** The collections with which the caller may do anything, including those registered at run time. */
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

/** Removes targets of a reference that the caller may not know. */
function withoutUnknownTargets(field: Field, known: ReadonlySet<string>): Field {
  return {
    ...field,
    targets: field.targets.filter((target) => known.has(target)),
    fields: field.fields.map((member) => withoutUnknownTargets(member, known)),
  };
}
