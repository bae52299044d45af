import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { ServiceError } from '../base/errors.js';
import { isJsonObject, type JsonObject, parseExactJson } from '../base/json/json.js';
import type { Format } from '../base/tables/format.js';
import type { Report } from '../school/reports/engine/report.js';
import type { ReportRun } from '../school/reports/engine/report-run.js';
import { printStatement } from '../school/reports/engine/statement.js';
import { tableOf } from '../school/reports/engine/table.js';
import { reports } from '../school/reports/registry.js';
import { actInDomain, type CommandLine } from './command-line.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

interface ReportOptions extends Readonly<Record<string, unknown>> {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly xlsx?: string;
  readonly sql?: boolean;
}

/** `campus report <name>`: a command for each report of the registry, its parameters as options. */
export function registerReportCommand(report: Command, commandLine: CommandLine): void {
  for (const one of reports) addReport(report, one, commandLine);
}

function addReport(parent: Command, report: Report, commandLine: CommandLine): void {
  const command = parent.command(report.name).summary(report.title).description(report.description);
  for (const parameter of Object.values(report.parameters)) addParameter(command, parameter);
  command
    .addOption(new Option('--json', 'print JSON').conflicts(['csv', 'xlsx', 'sql']))
    .addOption(new Option('--csv', 'print CSV').conflicts(['xlsx', 'sql']))
    .addOption(new Option('--xlsx <file>', 'write a spreadsheet').conflicts('sql'))
    .option('--sql', 'print the statement, to paste into psql');
  actInDomain<ReportOptions>(command, commandLine, async ({ services, scope, options }) => {
    const { reportServices } = services;
    const sent = sentParameters(report, options);
    const run = await report.run(reportServices, scope, sent);
    if (options.sql) printLine(printStatement(run.statement));
    else if (options.xlsx !== undefined) await saveFile(run, options.xlsx);
    else if (options.json) await printAnswer(run, 'json');
    else if (options.csv) await printAnswer(run, 'csv');
    else await printAsTable(report, run);
  });
}

function addParameter(command: Command, parameter: Report['parameters'][string]): void {
  const { restName, formerName, type, description, isRequired, defaultText } = parameter;
  const flags = `--${optionName(restName)} <${type.name}>`;
  const ifLeftOut = defaultText === undefined ? '' : `; default: ${defaultText}`;
  const meaning = `${description} (${type.expected}${ifLeftOut})`;
  if (formerName !== undefined) {
    command.addOption(new Option(`--${optionName(formerName)} <${type.name}>`).hideHelp());
  }
  // A parameter with two names is not required here: the report itself checks that one of them is given.
  if (isRequired && formerName === undefined) command.requiredOption(flags, meaning);
  else command.option(flags, meaning);
}

/** `name.value` is written `--name-value`, `start_month` `--start-month`. */
function optionName(restName: string): string {
  return restName.replaceAll(/[._]/g, '-');
}

function sentParameters(report: Report, options: ReportOptions): Record<string, unknown> {
  return Object.fromEntries(
    Object.values(report.parameters)
      .flatMap(({ restName, formerName }) => (formerName === undefined ? [restName] : [restName, formerName]))
      .map((name) => [name, options[new Option(`--${optionName(name)}`).attributeName()]]),
  );
}

async function printAnswer(run: ReportRun, format: Format): Promise<void> {
  for await (const chunk of run.answer({ format }).body) {
    // A reader that has gone, or a full disk, is an error here, which `watchConsoleOutput` reports.
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain').catch(() => undefined);
    if (process.stdout.destroyed) return;
  }
  if (format === 'json') process.stdout.write('\n');
}

async function saveFile(run: ReportRun, file: string): Promise<void> {
  try {
    await writeFile(file, run.answer({ format: 'xlsx' }).body);
  } catch (cause) {
    // Only errors of the file system have a path.
    if (!(cause instanceof Error && 'path' in cause)) throw cause;
    throw new ServiceError('INVALID_VALUE', `--xlsx ${file}: ${cause.message}`, { cause });
  }
  printLine(`wrote ${file}`);
}

/** Rows, a line of totals, and what was left out. */
async function printAsTable(report: Report, run: ReportRun): Promise<void> {
  const rows: JsonObject[] = [];
  const warnings: JsonObject[] = [];
  let totals: JsonObject = {};
  for await (const { part, json } of run.lines()) {
    const content = parseExactJson(json);
    if (!isJsonObject(content)) continue;
    if (part === 'row') rows.push(content);
    if (part === 'warning') warnings.push(content);
    if (part === 'totals') totals = content;
  }
  const table = tableOf(report.row, totals, 'without lists');
  const lines = [...rows, totals].map((row) => table.lineOf(row));
  printTable(
    table.headings,
    lines.map((cells) => cells.map((cell) => cell.value ?? '')),
  );
  for (const { collection, reason, count } of warnings) {
    printLine(`left out: ${String(count)} of ${String(collection)}: ${String(reason)}`);
  }
  if (table.listsLeftOut.length > 0) {
    printLine(
      `not shown here, for they are lists: ${table.listsLeftOut.join(', ')}; --json has them, --csv ` +
        'in one cell',
    );
  }
}
