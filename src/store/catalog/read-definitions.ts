import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { assertOwnGraphqlNames } from './assert-own-graphql-names.js';
import type { CollectionDefinition } from './collection-definition.js';
import { parseDefinition } from './parse-collection.js';

/** The declarations of a directory, by file name. All files are validated first. @throws INVALID_VALUE */
export async function readDefinitions(directory: string): Promise<readonly CollectionDefinition[]> {
  const files = (await readdir(directory))
    .filter((file) => file.endsWith('.json') && !file.endsWith('.schema.json'))
    .sort();
  const definitions: CollectionDefinition[] = [];
  for (const file of files) {
    const definition = parseDefinition(await readJson(path.join(directory, file), file), file);
    if (file !== `${definition.name}.json`) {
      throw new ServiceError(
        'INVALID_VALUE',
        `${file}: /name: it declares "${definition.name}"; call it ${definition.name}.json`,
      );
    }
    definitions.push(definition);
  }
  for (const definition of definitions) assertOwnGraphqlNames(definition, definitions);
  return definitions;
}

async function readJson(file: string, name: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('INVALID_VALUE', `${name}: it is not JSON: ${reason}`, { cause });
  }
}
