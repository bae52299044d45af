import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import { column, rowType } from '../../../src/school/reports/engine/columns.js';
import type { Report } from '../../../src/school/reports/engine/report.js';
import { composeReport, type ReportParts } from '../../../src/school/reports/engine/report-parts.js';
import type { PageOptions, ReportPage } from '../../../src/school/reports/engine/report-run.js';
import { everyPart, type ShownParts } from '../../../src/school/reports/engine/shown-parts.js';
import { pageStatement } from '../../../src/school/reports/engine/statement.js';
import { reports } from '../../../src/school/reports/registry.js';
import { sql } from '../../../src/store/sql.js';
import { REPORT_EXAMPLES } from '../../fixtures/twelve-students/report-examples.js';
import { ADMIN, scopeOf, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const NOTHING: ShownParts = { rows: undefined, totals: undefined, warnings: false };

async function ask(report: Report, options: PageOptions = {}): Promise<ReportPage> {
  const run = await report.run(school.services, scopeOf(ADMIN), REPORT_EXAMPLES[report.name] ?? {});
  const page = await run.page(options);
  return { ...page, warnings: inOrder(page.warnings) };
}

/** Warnings come in no order. */
function inOrder(warnings: readonly JsonObject[]): readonly JsonObject[] {
  return [...warnings].sort((left, right) => String(left.reason).localeCompare(String(right.reason)));
}

function columnOf(rows: readonly JsonObject[], name: string): readonly JsonObject[] {
  return rows.map((row) => ({ [name]: row[name] ?? null }));
}

describe.each(reports.map((report) => [report.name, report] as const))('%s', (_name, report) => {
  it('says of each column of its rows alone what it says of it among all', async () => {
    const whole = await ask(report);
    expect(whole.rows.length).toBeGreaterThan(0);
    for (const name of everyPart(report).rows ?? []) {
      const part = await ask(report, { shown: { ...NOTHING, rows: new Set([name]) } });
      expect(part.rows).toEqual(columnOf(whole.rows, name));
      expect(part.pageInfo).toEqual(whole.pageInfo);
    }
  });

  it('says of each column of its totals alone what it says of it among all', async () => {
    const whole = await ask(report);
    for (const name of everyPart(report).totals ?? []) {
      const part = await ask(report, { shown: { ...NOTHING, totals: new Set([name]) } });
      expect([part.totals]).toEqual(columnOf([whole.totals], name));
      expect(part.rows).toEqual([]);
    }
  });

  it('says of each kind of part alone what it says of it among all', async () => {
    const whole = await ask(report);
    const every = everyPart(report);
    const rows = await ask(report, { shown: { ...NOTHING, rows: every.rows } });
    const totals = await ask(report, { shown: { ...NOTHING, totals: every.totals } });
    const warnings = await ask(report, { shown: { ...NOTHING, warnings: true } });
    expect(rows).toEqual({ ...whole, totals: {}, warnings: [], generatedAt: rows.generatedAt });
    expect(totals.totals).toEqual(whole.totals);
    expect(warnings.warnings).toEqual(whole.warnings);
  });

  it('goes on after a row of which nothing was shown', async () => {
    const whole = await ask(report);
    const first = await ask(report, { first: 1, shown: { ...NOTHING, rows: new Set() } });
    expect(first.rows).toEqual([{}]);
    const after = first.pageInfo.endCursor ?? undefined;
    const rest = await ask(report, { after, shown: { ...NOTHING, rows: everyPart(report).rows } });
    expect(rest.rows).toEqual(whole.rows.slice(1));
  });

  it('asks the database nothing where nothing of it is shown', async () => {
    const page = await ask(report, { shown: NOTHING });
    expect(page).toMatchObject({
      rows: [],
      totals: {},
      warnings: [],
      parameters: (await ask(report)).parameters,
    });
  });
});

describe('a first page', () => {
  const Numbered = rowType('Numbered', 'A number.', { n: column.whole('The number.') });
  const PARTS: ReportParts<{ n: number }, { n: number }> = {
    ctes: sql`numbers as materialized (select n from generate_series(1, 1000) as n)`,
    rows: {
      position: sql`row_number() over (order by n)`,
      key: sql`n::text`,
      from: sql`from numbers`,
    },
    totals: { over: sql`from numbers` },
  };

  it('of rows alone numbers no row behind its end', async () => {
    const composed = composeReport(
      PARTS,
      { row: Numbered, totals: Numbered },
      { ...NOTHING, rows: new Set(['n']) },
    );
    if (composed === undefined) throw new Error('there are rows');
    const statement = pageStatement(composed, 50, undefined);
    const plan = await school.services.database.query<{ 'QUERY PLAN': string }>(
      sql`explain (analyze, timing off, costs off) ${statement}`,
    );
    const lines = plan.map((row) => row['QUERY PLAN']);
    expect(lines.find((line) => line.includes('WindowAgg'))).toMatch(/rows=50\b/);
  });
});
