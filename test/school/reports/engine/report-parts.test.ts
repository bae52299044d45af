import { describe, expect, it } from '@jest/globals';
import type { ValueOf } from '../../../../src/base/scalars/declared-type.js';
import { column, rowType } from '../../../../src/school/reports/engine/columns.js';
import {
  composeReport,
  jsonListOf,
  type ReportParts,
} from '../../../../src/school/reports/engine/report-parts.js';
import { sql } from '../../../../src/store/sql.js';

const Row = rowType('PartsRow', 'A row.', {
  name: column.text('Its name.'),
  marks: column.whole('Its marks.'),
  paid: column.nullable.money('What was paid.'),
});

const Totals = rowType('PartsTotals', 'All rows.', {
  students: column.whole('Students.'),
  best: column.nullable.whole('The most marks.'),
  marks: column.whole('All marks.'),
});

const PARTS: ReportParts<ValueOf<typeof Row>, ValueOf<typeof Totals>> = {
  ctes: sql`listed as (select * from students where class = ${'5'})`,
  rows: {
    position: sql`place`,
    key: sql`id`,
    of: 'l',
    columns: { marks: sql`marks + ${1}` },
    from: sql`from listed l`,
  },
  totals: {
    columns: { students: sql`count(*)`, best: sql`(select max(marks) from listed)` },
    over: sql`from listed`,
  },
  leftOut: [sql`select collection, id, reason from faults`],
};

const NOTHING = { rows: undefined, totals: undefined, warnings: false };
const compose = (shown: Partial<Parameters<typeof composeReport>[2]>) =>
  composeReport(PARTS, { row: Row, totals: Totals }, { ...NOTHING, ...shown });

describe('the statement of what is asked of a report', () => {
  it('names the columns that are shown, and no other', () => {
    const sql = compose({ rows: new Set(['marks']) });
    expect(sql?.text).toBe(`with listed as (select * from students where class = $1)
select 'row' as part, place as position, id as key,
  json_build_object(
  'marks', coalesce(marks + $2, 0)
) as content
from listed l`);
    expect(sql?.values).toEqual(['5', 1]);
  });

  it('has each value in the form of its type, of the column of its name where none is given', () => {
    expect(compose({ rows: new Set(['name', 'marks', 'paid']) })?.text).toContain(`
  'name', coalesce(l.name, ''),
  'marks', coalesce(marks + $2, 0),
  'paid', round(l.paid, 2)
`);
    expect(compose({ totals: new Set(['marks']) })?.text).toContain("'marks', coalesce(sum(marks), 0)");
  });

  it('reads a column of a record that is not named from its member of the same name', () => {
    expect(jsonListOf(Row, sql`name`, { of: 'r.data' }).text).toContain(
      "'name', coalesce(r.data->>'name', '')",
    );
  });

  it('has a list of objects of a class', () => {
    expect(
      jsonListOf(Row, sql`name`, { of: 'l', columns: { marks: sql`0` } }).text,
    ).toBe(`json_agg(json_build_object(
  'name', coalesce(l.name, ''),
  'marks', coalesce(0, 0),
  'paid', round(l.paid, 2)
) order by name)`);
  });

  it('has one row of totals, also where none of those shown is added up', () => {
    const sql = compose({ totals: new Set(['best']) });
    expect(sql?.text).toMatch(
      /'best', \(select max\(marks\) from listed\)\n\) as content\nfrom listed\nhaving true$/,
    );
  });

  it('reads nothing for totals of which nothing is shown', () => {
    expect(compose({ totals: new Set() })?.text).toMatch(/json_build_object\(\) as content$/);
  });

  it('takes no name of a column from who asks', () => {
    const name = "marks', (select 1)) --";
    expect(compose({ rows: new Set([name]) })?.text).not.toContain('select 1');
  });

  it('joins the parts that are asked for', () => {
    const text = compose({ rows: new Set(['name']), totals: new Set(['students']), warnings: true })?.text;
    expect(text?.match(/select '\w+' as part/g)).toEqual([
      "select 'row' as part",
      "select 'totals' as part",
      "select 'warning' as part",
    ]);
  });

  it('is no statement where nothing is asked for', () => {
    expect(compose({})).toBeUndefined();
  });
});
