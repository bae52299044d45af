/** The operations of the library that tiles show, as the portal has them when it is built. */
import { readdir, readFile } from 'node:fs/promises';
import { buildSchema } from 'graphql';
import type { TileOperation } from '../../src/portal/browser/dashboards/tile-operation.js';
import { loadOperationsLibrary } from '../../src/portal/explore/operations-library.js';
import { generateTileOperations } from '../../src/portal/generate-tile-operations.js';

export async function loadTileOperations(): Promise<readonly TileOperation[]> {
  const files = (await readdir('schema/collections')).filter((name) => !name.includes('.schema.'));
  return generateTileOperations({
    schema: buildSchema(await readFile('schema/schema.graphql', 'utf8')),
    library: await loadOperationsLibrary('schema/operations'),
    collections: await Promise.all(
      files.map(async (name) => JSON.parse(await readFile(`schema/collections/${name}`, 'utf8'))),
    ),
  });
}
