/** Reads the declarations of a folder of `schema`, and checks them by the schema beside them. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv } from 'ajv';
import { ServiceError } from '../base/errors.js';

interface ReadDeclaration<Definition> {
  readonly definition: Definition;
  /** The file, for errors. */
  readonly source: string;
}

/** `kind` is e.g. `sheet`. @throws INVALID_VALUE with the file, the place in it and the fault */
export async function readDeclarations<Definition extends { readonly name: string }>(
  directory: string,
  kind: string,
): Promise<readonly ReadDeclaration<Definition>[]> {
  const schemaFile = `${kind}.schema.json`;
  const files = await readdir(directory);
  const schema = JSON.parse(await readFile(path.join(directory, schemaFile), 'utf8'));
  const validate = new Ajv({
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  }).compile<Definition>(schema);
  const read: ReadDeclaration<Definition>[] = [];
  for (const file of files.filter((name) => name.endsWith('.json') && name !== schemaFile).toSorted()) {
    const source = `schema/${kind}s/${file}`;
    const definition: unknown = parse(await readFile(path.join(directory, file), 'utf8'), source);
    if (!validate(definition)) {
      const [first] = validate.errors ?? [];
      throw declarationFault(source, first?.instancePath || `the ${kind}`, faultOf(first));
    }
    if (read.some((one) => one.definition.name === definition.name))
      throw declarationFault(source, '/name', `"${definition.name}" is the name of another ${kind}`);
    read.push({ definition, source });
  }
  return read;
}

export function declarationFault(source: string, place: string, detail: string): ServiceError {
  return new ServiceError('INVALID_VALUE', `${source}: ${place}: ${detail}.`);
}

/** @throws INVALID_VALUE unless there is one of this name */
export function findDeclared<One extends { readonly name: string }>(
  some: readonly One[],
  wanted: string,
  at: { readonly source: string; readonly place: string; readonly missing: string },
): One {
  const found = some.find(({ name }) => name === wanted);
  if (found) return found;
  throw declarationFault(at.source, at.place, `${at.missing} "${wanted}"`);
}

function parse(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw declarationFault(source, 'the file', `is not valid JSON: ${(error as Error).message}`);
  }
}

interface SchemaFault {
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

function faultOf(error: SchemaFault | undefined): string {
  const { additionalProperty } = error?.params ?? {};
  if (additionalProperty !== undefined) return `unknown key "${String(additionalProperty)}"`;
  return error?.message ?? 'is not valid';
}
