import path from 'node:path';
import type { Collection } from '../../../src/base/model/collection.js';
import { findPackageDirectory } from '../../../src/base/process/package-directory.js';
import { parseCollection, readDefinitions } from '../../../src/store/catalog/parse-collection.js';

/** The collections of schema/collections, by name. @throws INVALID_VALUE for a declaration that is wrong */
export async function readCollections(): Promise<ReadonlyMap<string, Collection>> {
  const definitions = await readDefinitions(path.join(findPackageDirectory(), 'schema', 'collections'));
  return new Map(
    definitions.map((definition) => [
      definition.name,
      parseCollection(definition, { source: definition.name, isDeclared: true, version: 1 }),
    ]),
  );
}
