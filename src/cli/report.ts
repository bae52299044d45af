import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { ServiceError } from '../errors.js';
import { isJsonObject, type JsonObject, parseExactJson } from '../json.js';
import { printStatement } from '../reports/print-statement.js';
import { reports } from '../reports/registry.js';
import type { Report, ReportServices } from '../reports/report.js';
import type { ReportFormat, ReportRun } from '../reports/report-run.js';
import { tableOf } from '../reports/table.js';
import type { Services } from '../services.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine, printTable } from './console.js';

interface ReportOptions extends Readonly<Record<string, unknown>> {
  readonly domain?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly xlsx?: string;
  readonly sql?: boolean;
}

/** `campus report <name>`: a command for each report of the registry, its parameters as options. */
export function registerReport(program: Command, commandLine: CommandLine): void {
  const report = program.command('report').description('run a report: a table, or --json, --csv, --xlsx');
  for (const one of reports) addReport(report, one, commandLine);
}

function addReport(parent: Command, report: Report, commandLine: CommandLine): void {
  const command = parent.command(report.name).summary(report.title).description(report.description);
  for (const { restName, type, description, isRequired, defaultText } of Object.values(report.parameters)) {
    const flags = `--${optionName(restName)} <${type.name}>`;
    const meaning = `${description} (${type.expected}${defaultText === undefined ? '' : `; default: ${defaultText}`})`;
    if (isRequired) command.requiredOption(flags, meaning);
    else command.option(flags, meaning);
  }
  command
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV')
    .option('--xlsx <file>', 'write a spreadsheet')
    .option('--sql', 'print the statement, to paste into psql')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((options: ReportOptions) =>
      withServices(commandLine, async (services) => {
        const reportServices = reportServicesOf(services, commandLine);
        const scope = operatorScope(services, options.domain);
        const sent = sentParameters(report, options);
        if (options.sql) {
          printLine(printStatement(await report.statement(reportServices, scope, sent)));
          return;
        }
        const run = await report.run(reportServices, scope, sent);
        if (options.xlsx !== undefined) await saveFile(run, options.xlsx);
        else if (options.json) await printAnswer(run, 'json');
        else if (options.csv) await printAnswer(run, 'csv');
        else await printAsTable(report, run);
      }),
    );
}

function reportServicesOf(services: Services, { config }: CommandLine): ReportServices {
  const { database, store, domains } = services;
  const { defaultPageSize, maxPageSize } = config;
  return { database, store, domains, now: () => new Date(), defaultPageSize, maxPageSize };
}

/** `name.value` is written `--name-value`, `start_month` `--start-month`. */
function optionName(restName: string): string {
  return restName.replaceAll(/[._]/g, '-');
}

function sentParameters(report: Report, options: ReportOptions): Record<string, unknown> {
  return Object.fromEntries(
    Object.values(report.parameters).map(({ restName }) => [
      restName,
      options[toOptionKey(optionName(restName))],
    ]),
  );
}

/** As Commander names the value of `--start-month`: `startMonth`. */
function toOptionKey(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function printAnswer(run: ReportRun, format: ReportFormat): Promise<void> {
  for await (const chunk of run.answer({ format }).body) {
    if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  if (format === 'json') process.stdout.write('\n');
}

async function saveFile(run: ReportRun, file: string): Promise<void> {
  try {
    await writeFile(file, run.answer({ format: 'xlsx' }).body);
  } catch (cause) {
    // The file system's refusals alone have a path.
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
  const table = tableOf(report.row, totals);
  const lines = rows.flatMap((row) => table.linesOf(row)).concat([table.totalsLine(totals)]);
  printTable(
    table.headings,
    lines.map((cells) => cells.map((cell) => cell.value ?? '')),
  );
  for (const { collection, reason, count } of warnings) {
    printLine(`left out: ${String(count)} of ${String(collection)}: ${String(reason)}`);
  }
}
