import { describe, expect, it } from '@jest/globals';
import { composeReport, type ReportParts } from '../../../../src/school/reports/engine/report-parts.js';
import { sql } from '../../../../src/store/sql.js';

interface Row {
  readonly name: string;
  readonly marks: number;
}

interface Totals {
  readonly students: number;
  readonly best: number;
}

const PARTS: ReportParts<Row, Totals> = {
  ctes: sql`listed as (select * from students where class = ${'5'})`,
  rows: {
    position: sql`place`,
    key: sql`id`,
    columns: { name: sql`name`, marks: sql`marks + ${1}` },
    from: sql`from listed`,
  },
  totals: {
    columns: { students: sql`count(*)`, best: sql`(select max(marks) from listed)` },
    over: sql`from listed`,
  },
  leftOut: sql`select collection, reason, id from faults`,
};

const NOTHING = { rows: undefined, totals: undefined, warnings: false };
const compose = (shown: Partial<Parameters<typeof composeReport>[1]>) =>
  composeReport(PARTS, { ...NOTHING, ...shown }, new Set(['name']));

describe('the statement of what is asked of a report', () => {
  it('names the columns that are shown, and no other', () => {
    const sql = compose({ rows: new Set(['marks']) });
    expect(sql?.text).toBe(`with listed as (select * from students where class = $1)
select 'row' as part, place as position, id as key,
  json_build_object(
  'marks', marks + $2
) as content
from listed`);
    expect(sql?.values).toEqual(['5', 1]);
  });

  it('has the empty text where a record lacks one that every row has', () => {
    expect(compose({ rows: new Set(['name', 'marks']) })?.text).toContain(`
  'name', coalesce(name, ''),
  'marks', marks + $2
`);
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
