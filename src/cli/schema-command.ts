import { readFile } from 'node:fs/promises';
import { type Change, CriticalityLevel, DiffRule, diff } from '@graphql-inspector/core';
import type { Command } from 'commander';
import { buildClientSchema, buildSchema, type GraphQLSchema } from 'graphql';
import { ServiceError } from '../base/errors.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

/** The effects of a change on clients, the worst first. */
const EFFECTS = [
  { level: CriticalityLevel.Breaking, name: 'breaking' },
  { level: CriticalityLevel.Dangerous, name: 'dangerous' },
  { level: CriticalityLevel.NonBreaking, name: 'safe' },
] as const;

/** `campus schema check`: what a schema in place of another does to its clients, without a database. */
export function registerSchemaCommand(schema: Command): void {
  schema
    .command('check <old> <new>')
    .description('compare two schemas (SDL, or the JSON of an introspection); exit code 1 if a client breaks')
    .option('--json', 'print the changes as JSON')
    .action(async (older: string, newer: string, options: { readonly json?: boolean }) => {
      const [before, after] = await Promise.all([readSchema(older), readSchema(newer)]);
      // A deprecated field may be removed: its clients were warned.
      const changes = await diff(before, after, [DiffRule.suppressRemovalOfDeprecatedField]);
      const told = EFFECTS.flatMap(({ level, name }) =>
        changes.filter(({ criticality }) => criticality.level === level).map((change) => tell(name, change)),
      );
      if (options.json) printLine(JSON.stringify(told, undefined, 2));
      else if (told.length === 0) printLine('no change');
      else
        printTable(
          ['effect', 'where', 'change'],
          told.map((one) => [one.effect, one.path, one.message]),
        );
      const breaking = told.filter(({ effect }) => effect === 'breaking').length;
      if (breaking === 0) return;
      const what = breaking === 1 ? '1 change breaks clients' : `${breaking} changes break clients`;
      throw new ServiceError('CONFLICT', `${what} of ${older}`);
    });
}

function tell(effect: (typeof EFFECTS)[number]['name'], { path, message, criticality }: Change) {
  return { effect, path: path ?? '', message, ...(criticality.reason && { reason: criticality.reason }) };
}

/** @throws INVALID_VALUE for a file that is not there, or is no schema */
async function readSchema(file: string): Promise<GraphQLSchema> {
  try {
    const text = await readFile(file, 'utf8');
    if (!text.trimStart().startsWith('{')) return buildSchema(text);
    const parsed = JSON.parse(text);
    return buildClientSchema(parsed.data ?? parsed);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('INVALID_VALUE', `${file} is no schema: ${reason}`, { cause });
  }
}
