/** Prints what was measured: the table of the README, and every figure behind it. */
import Table from 'cli-table3';
import type { Measured, WorkloadResult } from './comparison.js';
import { median } from './median.js';

const PLAIN = { head: [], border: [], compact: true };
const LIMIT = 'bare';

const TITLES: ReadonlyMap<string, string> = new Map([
  [LIMIT, 'bare server'],
  ['rest', 'gateway, REST'],
  ['graphql', 'gateway, GraphQL'],
  ['postgraphile', 'PostGraphile 5'],
  ['naive', 'Apollo + TypeGraphQL + Prisma'],
]);

/** Medians, with the least and the most of the rounds where there are several. */
export function printFigures(results: readonly WorkloadResult[]): string {
  const table = new Table({
    style: PLAIN,
    head: [
      'workload',
      'server',
      'a second',
      'ratio',
      'p50 ms',
      'p99 ms',
      'server ms',
      'db ms',
      'MiB',
      '+MiB',
    ],
  });
  for (const { workload, rounds } of results) {
    for (const [name, measured] of rounds) {
      table.push([
        `${workload.name} ${workload.title}`,
        name,
        middle(measured, ({ perSecond }) => perSecond).toFixed(0),
        printDistribution(ratiosOf(rounds, name)),
        printNumber(middle(measured, ({ p50Ms }) => p50Ms)),
        printNumber(middle(measured, ({ p99Ms }) => p99Ms)),
        printNumber(middle(measured, ({ serverMs }) => serverMs)),
        printNumber(middle(measured, ({ databaseMs }) => databaseMs)),
        mebibytes(Math.max(...measured.map(({ memory }) => memory))),
        mebibytes(Math.max(...measured.map(({ growth }) => growth))),
      ]);
    }
  }
  return table.toString();
}

/** A row a server, a column a workload: how much of the bare server's throughput it has. */
export function printRatios(results: readonly WorkloadResult[]): string {
  const servers = [...new Set(results.flatMap(({ rounds }) => [...rounds.keys()]))];
  const rows = servers
    .filter((name) => name !== LIMIT)
    .map((name) => {
      const cells = results.map(({ workload, rounds }) => {
        const ratios = ratiosOf(rounds, name);
        if (ratios.length === 0) return '–';
        const growth = Math.max(...(rounds.get(name) ?? []).map((measured) => measured.growth));
        return median(ratios).toFixed(2) + (workload.name === 'w6' ? `, +${mebibytes(growth)} MiB` : '');
      });
      return `| ${TITLES.get(name) ?? name} | ${cells.join(' | ')} |`;
    });
  return [
    `| | ${results.map(({ workload }) => `${workload.name.toUpperCase()} ${workload.title}`).join(' | ')} |`,
    `|---|${results.map(() => '--:').join('|')}|`,
    ...rows,
  ].join('\n');
}

/** Of each round in which the bare server was measured too. */
function ratiosOf(rounds: WorkloadResult['rounds'], name: string): readonly number[] {
  const limits = rounds.get(LIMIT) ?? [];
  return (rounds.get(name) ?? []).flatMap(({ perSecond }, round) => {
    const limit = limits[round];
    return limit === undefined ? [] : [perSecond / limit.perSecond];
  });
}

function printDistribution(ratios: readonly number[]): string {
  if (ratios.length === 0) return '–';
  const spread =
    ratios.length > 1 ? ` (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})` : '';
  return median(ratios).toFixed(2) + spread;
}

function middle(measured: readonly Measured[], figure: (one: Measured) => number): number {
  return median(measured.map(figure));
}

/** Three digits, for what is less than a millisecond and what is more than a second alike. */
function printNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function mebibytes(bytes: number): string {
  return String(Math.max(0, Math.round(bytes / 2 ** 20)));
}
