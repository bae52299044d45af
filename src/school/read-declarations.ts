/** Reads the declarations of a folder of `schema`, and checks them by the schema beside them. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { ServiceError } from '../base/errors.js';

interface ReadDeclaration<Definition> {
  readonly definition: Definition;
  /** The file, for errors. */
  readonly source: string;
  /** The whole text of the file. */
  readonly text: string;
}

/** The file extension of declarations, and their parser. */
interface Format {
  readonly extension: string;
  parse(text: string, source: string): unknown;
}

/** `kind` is e.g. `sheet`. @throws INVALID_VALUE with the file, the place in it and the fault */
export async function readDeclarations<Definition extends { readonly name: string }>(
  directory: string,
  kind: string,
  format: Format = JSON_FILES,
): Promise<readonly ReadDeclaration<Definition>[]> {
  const schemaFile = `${kind}.schema.json`;
  const files = (await readdir(directory)).filter((name) => name.endsWith(format.extension));
  // A name that begins with `_` is a part of other files.
  const declared = files.filter((name) => name !== schemaFile && !name.startsWith('_')).toSorted();
  const schema = JSON.parse(await readFile(path.join(directory, schemaFile), 'utf8'));
  const validate = new Ajv({
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  }).compile<Definition>(schema);
  const read: ReadDeclaration<Definition>[] = [];
  for (const file of declared) {
    const source = `schema/${kind}s/${file}`;
    const text = await readFile(path.join(directory, file), 'utf8');
    const definition = format.parse(text, source);
    if (!validate(definition)) {
      const [first] = validate.errors ?? [];
      throw declarationFault(source, first?.instancePath || `the ${kind}`, faultOf(first));
    }
    if (read.some((one) => one.definition.name === definition.name))
      throw declarationFault(source, '/name', `"${definition.name}" is the name of another ${kind}`);
    read.push({ definition, source, text });
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

const JSON_FILES: Format = {
  extension: '.json',
  parse: (text, source) => attempt({ source, place: 'the file' }, () => JSON.parse(text)),
};

/** Calls a function. @throws INVALID_VALUE with the place and the message of its error */
export function attempt<Value>(
  { source, place }: { readonly source: string; readonly place: string },
  run: () => Value,
): Value {
  try {
    return run();
  } catch (error) {
    throw declarationFault(source, place, (error as Error).message.replace(/\.$/, ''));
  }
}

function faultOf(error: ErrorObject | undefined): string {
  const { additionalProperty } = error?.params ?? {};
  if (additionalProperty !== undefined) return `unknown key "${String(additionalProperty)}"`;
  return error?.message ?? 'is not valid';
}
