import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { VERSION } from '../base/process/version.js';
import { DECLARATIONS } from '../gateway/compose/services.js';
import { printEnvExample } from '../gateway/config/config.js';
import { printGatewaySchema, readCollections } from '../gateway/graphql/print-schema.js';
import { printOpenapi } from '../gateway/rest/openapi.js';
import { createRouteTable } from '../gateway/rest/routes.js';
import { reports } from '../school/reports/registry.js';
import { wholeCollection } from '../store/access/access.js';
import { printLine } from './console-output.js';

/** The files that are printed from the code, so that a change of a contract shows in review. */
const CONTRACTS: readonly { readonly file: string; readonly print: () => string | Promise<string> }[] = [
  { file: 'schema/schema.graphql', print: () => printGatewaySchema(DECLARATIONS) },
  {
    file: 'schema/openapi.json',
    print: async () => {
      const collections = (await readCollections(DECLARATIONS)).map(wholeCollection);
      return printOpenapi(createRouteTable({ reports, version: VERSION, collections }), VERSION);
    },
  },
  { file: '.env.example', print: printEnvExample },
];

/** `campus contracts`, for developers. */
export function registerContractsCommand(command: Command): void {
  command
    .option('--check', 'change nothing; exit code 1 and the names of the files that are out of date')
    .action(async (options: { check?: boolean }) => {
      const stale: string[] = [];
      for (const { file, print } of CONTRACTS) {
        const target = path.join(PACKAGE, file);
        const text = await print();
        if (text === (await readFile(target, 'utf8').catch(() => undefined))) continue;
        stale.push(file);
        if (!options.check) await writeFile(target, text);
      }
      if (stale.length > 0 && options.check) {
        throw new ServiceError(
          'CONFLICT',
          `out of date: ${stale.join(', ')}; \`npm run print\` brings them up to date`,
        );
      }
      printLine(stale.length === 0 ? 'up to date' : `printed ${stale.join(', ')}`);
    });
}

const PACKAGE = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
