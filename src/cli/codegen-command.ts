import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { generateClient } from '../codegen/generate-client.js';
import type { OperationDocument } from '../codegen/print-operation-types.js';
import { ServiceError } from '../errors.js';
import { printLine } from './console-output.js';

interface CodegenOptions {
  readonly out: string;
  readonly token?: string;
  readonly documents?: string;
}

/** The variable that `/.graphqlrc` names, too. */
const TOKEN_VARIABLE = 'CAMPUS_TOKEN';

/** `campus codegen`: needs no database, only the address of a gateway that runs. */
export function registerCodegenCommand(command: Command): void {
  command
    .requiredOption('--out <folder>', 'where the files go; made where it is missing')
    .addOption(
      new Option('--token <token>', 'an API key or access token; best in the environment').env(
        TOKEN_VARIABLE,
      ),
    )
    .option('--documents <folder>', 'operations of your own (*.graphql); default: the library of the gateway')
    .action(async (address: string, options: CodegenOptions) => {
      const { token } = options;
      if (!token) {
        throw new ServiceError(
          'INVALID_VALUE',
          `The types are those of a credential: set ${TOKEN_VARIABLE} to an API key or access token.`,
        );
      }
      const files = await generateClient({
        address: parseAddress(address),
        token,
        ...(options.documents !== undefined && { documents: await readDocuments(options.documents) }),
      });
      await mkdir(options.out, { recursive: true });
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(options.out, name), text);
      printLine(`wrote ${Object.keys(files).join(', ')} to ${options.out}`);
    });
}

function parseAddress(address: string): string {
  if (URL.canParse(address) && /^https?:/.test(address)) return address.replace(/(?<!\/)\/+$/, '');
  throw new ServiceError(
    'INVALID_VALUE',
    `The address is ${JSON.stringify(address)}; expected one such as https://school.example.`,
  );
}

async function readDocuments(folder: string): Promise<readonly OperationDocument[]> {
  const names = await readdir(folder, { recursive: true }).catch((error: Error) => {
    throw new ServiceError('INVALID_VALUE', `--documents: ${error.message}`);
  });
  const files = names.filter((name) => name.endsWith('.graphql')).sort();
  if (files.length === 0)
    throw new ServiceError('INVALID_VALUE', `--documents: ${folder} has no files that end in .graphql.`);
  return await Promise.all(
    files.map(async (source) => ({ source, text: await readFile(path.join(folder, source), 'utf8') })),
  );
}
