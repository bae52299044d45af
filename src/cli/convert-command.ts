import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonObject, printExactJson } from '../base/json/json.js';
import { saveWhole, toFileError } from '../services/backup/save-backup.js';
import { convertBundle, filesOf } from '../services/formats/convert-bundle.js';
import { readFormatMapping } from '../services/formats/format-mapping.js';
import { readBundle } from '../services/formats/read-bundle.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { contextOf } from './export-format.js';
import { printTable } from './print-table.js';

interface ConvertOptions {
  readonly domain?: string;
  readonly out: string;
  readonly json?: boolean;
}

/** `campus convert`: the files of another program as files that are imported. */
export function registerConvertCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--domain <id>', 'the domain they are for; default: the top one')
    .option('--out <folder>', 'where the files go', '.')
    .option('--json', 'print what was written as JSON')
    .action(async (format: string, file: string, options: ConvertOptions) => {
      const mapping = await readFormatMapping(format);
      const { in: incoming } = mapping;
      if (incoming === undefined) {
        throw new ServiceError('INVALID_VALUE', `${format} is written, by campus export --as, and not read.`);
      }
      const bundle = await readBundle(file, filesOf(incoming), mapping.manifest);
      await withServices(commandLine, async (services) => {
        const scope = operatorScope(services, options.domain);
        const context = { ...contextOf(services, scope, new Date()), tables: mapping.tables ?? {} };
        const { collections, homeless, leftOut } = convertBundle(incoming, bundle, context);
        const files = await saveAll(collections, options.out);
        if (options.json) {
          const told = {
            files,
            homeless: Object.fromEntries(homeless),
            leftOut: Object.fromEntries(leftOut),
          };
          printLine(JSON.stringify(told));
          return;
        }
        printTable(
          ['collection', 'records', 'file'],
          files.map(({ collection, records, file: name }) => [
            collection,
            records.toLocaleString('en'),
            name,
          ]),
        );
        if (homeless.size > 0) {
          printTable(
            ['column without a place here', 'rows'],
            [...homeless].map(([column, count]) => [column, count.toLocaleString('en')]),
          );
        }
        for (const [name, count] of leftOut) printLine(`left out, there no more: ${count} of ${name}`);
        printLine('they are imported in this order, by=_id: POST /imports?collection=<collection>');
      });
    });
}

async function saveAll(collections: ReadonlyMap<string, readonly JsonObject[]>, folder: string) {
  await mkdir(folder, { recursive: true }).catch((fault: unknown) => {
    throw toFileError(folder, fault);
  });
  const files: { collection: string; records: number; file: string }[] = [];
  for (const [collection, records] of collections) {
    const file = path.join(folder, `${collection}.ndjson`);
    await saveWhole(file, linesOf(records));
    files.push({ collection, records: records.length, file });
  }
  return files;
}

async function* linesOf(records: readonly JsonObject[]): AsyncGenerator<string, void> {
  for (const record of records) yield `${printExactJson(record)}\n`;
}
