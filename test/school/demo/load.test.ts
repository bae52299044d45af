import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findPackageDirectory } from '../../../src/base/process/package-directory.js';
import { DEMO_DEFAULTS } from '../../../src/school/demo/demo-options.js';
import { type LoadDemoOptions, loadDemo } from '../../../src/school/demo/load.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import { useTestDatabase } from '../../database.js';
import { declaredTemplate } from '../../declared-template.js';

const TODAY = '2026-11-20';
const SCHOOL = { ...DEMO_DEFAULTS, students: 240, today: TODAY };

const test = useTestDatabase({ template: declaredTemplate });
let catalog: Catalog;
beforeAll(async () => {
  catalog = await Catalog.load({
    database: test.database,
    directory: path.join(findPackageDirectory(), 'schema', 'collections'),
    domains: () => [],
  });
});
afterAll(async () => {
  await catalog.close();
});

async function load(options: Partial<LoadDemoOptions> = {}) {
  return await loadDemo(test.database, catalog, { demo: SCHOOL, onExisting: 'refuse', ...options });
}

/** The rows of a query over `r`, which is the live records of a domain. */
async function rows(sql: string): Promise<readonly Record<string, unknown>[]> {
  const { rows: found } = await test.database.pool.query(
    `with r as not materialized (select * from records where deleted_at is null and domain = 'demo') ${sql}`,
  );
  return found;
}

async function value(sql: string): Promise<unknown> {
  const [row] = await rows(sql);
  return Object.values(row ?? {})[0];
}

async function expectNone(sql: string): Promise<void> {
  // Not by `limit`, for which Postgres would plan nested loops.
  expect((await rows(sql)).slice(0, 3)).toEqual([]);
}

async function indexes(): Promise<readonly unknown[]> {
  const { rows: found } = await test.database.pool.query(
    `select indexdef from pg_indexes where tablename like 'records\\_%' order by indexdef`,
  );
  return found;
}

describe('a load that fails', () => {
  it('leaves no half school, and every index as it was', async () => {
    const before = await indexes();
    const abort = new AbortController();
    const onProgress: LoadDemoOptions['onProgress'] = ({ collection }) => {
      if (collection === 'fee_receipt') abort.abort(new Error('enough'));
    };
    await expect(load({ onProgress, signal: abort.signal })).rejects.toThrow('enough');
    const { rows: left } = await test.database.pool.query(
      'select (select count(*)::int from records) as records, (select count(*)::int from domains) as domains',
    );
    expect(left).toEqual([{ records: 0, domains: 0 }]);
    expect(await indexes()).toEqual(before);
  });

  it('leaves connections that serve others', async () => {
    const limit = test.database.pool.query('show statement_timeout');
    expect((await limit).rows).toEqual([{ statement_timeout: '20s' }]);
  });
});

describe('a loaded school', () => {
  const progress: { collection: string; done: number; total: number }[] = [];
  let before: readonly unknown[];
  let summary: Awaited<ReturnType<typeof load>>;
  beforeAll(async () => {
    before = await indexes();
    summary = await load({ onProgress: (step) => progress.push(step) });
  });

  it('is reported while it comes and at the end', async () => {
    const { rows: found } = await test.database.pool.query(
      'select collection, count(*)::int as count from records group by collection',
    );
    expect(Object.fromEntries(found.map((row) => [row.collection, row.count]))).toEqual(summary.recordCounts);
    const last = new Map(progress.map((step) => [step.collection, step]));
    expect([...last.values()].filter(({ done, total }) => done !== total)).toEqual([]);
    expect(summary.domainIds).toEqual(['demo', 'demo-north']);
  });

  it('has its indexes again, and statistics', async () => {
    expect(await indexes()).toEqual(before);
    const { rows: found } = await test.database.pool.query(
      `select reltuples > 0 as "isAnalyzed" from pg_class where relname = 'records_attendance'`,
    );
    expect(found).toEqual([{ isAnalyzed: true }]);
  });

  it('has two domains, the branch with the properties of the main school', async () => {
    const { rows: found } = await test.database.pool.query(
      'select d.id, d.parent_id, p.name, p.value from domains d left join properties p on ' +
        'p.domain_id = d.id order by 1, 3',
    );
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'demo', parent_id: null, name: 'timezone', value: 'Asia/Kolkata' }),
        expect.objectContaining({ id: 'demo', name: 'weeklyOffs', value: ['SU', '2SA', '4SA'] }),
        expect.objectContaining({ id: 'demo', name: 'currency', value: 'INR' }),
        expect.objectContaining({ id: 'demo-north', parent_id: 'demo', name: 'schoolName' }),
      ]),
    );
    expect(found.filter(({ id, name }) => id === 'demo-north' && name === 'timezone')).toEqual([]);
  });

  it('refuses a second one', async () => {
    await expect(load()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('demo'),
    });
  });

  it('keeps one mark a student a day by the rule of the store', async () => {
    const insert = `insert into records (domain, collection, id, data, keys)
      select domain, collection, 'again', data, keys from records where collection = 'attendance' limit 1`;
    await expect(test.database.pool.query(insert)).rejects.toMatchObject({ code: '23505' });
  });

  it('points to records that exist', async () => {
    for (const collection of catalog.list()) {
      for (const { name, type, isList, targets } of collection.fields) {
        if (type !== 'reference' || isList) continue;
        await expectNone(`
          select r.collection, r.id, r.data->'${name}' from r
          where r.collection = '${collection.name}' and r.data ? '${name}' and not exists (
            select from records t where t.domain = r.domain and t.id = r.data->'${name}'->>'value'
              and t.collection = any('{${targets.join(',')}}')
              and coalesce(t.data->>'name', '') = r.data->'${name}'->>'label')`);
      }
    }
  });

  describe('its receipts', () => {
    const lines = `lines as (
      select r.id, r.data, line->>'fee_head' as head, line->>'month' as month,
        (line->>'amount')::numeric as amount, coalesce((line->>'fine')::numeric, 0) as fine
      from r, jsonb_array_elements(r.data->'lines') as line where r.collection = 'fee_receipt')`;

    it('have a total that is the sum of their lines', async () => {
      await expectNone(
        `, ${lines} select id from lines group by id, data having sum(amount + fine) <> ` +
          `(data->>'total')::numeric`,
      );
    });

    it('are numbered without gaps in the order they were written', async () => {
      await expectNone(`select id from (
        select r.id, r.data->>'receipt_no' as no, row_number() over (order by r.data->>'date', r.id) as place
        from r where collection = 'fee_receipt') numbered where no <> 'R-' || place`);
    });

    it('have the same sum by head and fine, by payment type and in all', async () => {
      expect(
        await value(`, ${lines} select (select sum(amount) + sum(fine) from lines)
          - (select sum((data->>'total')::numeric) from r where collection = 'fee_receipt')`),
      ).toBe('0.00');
    });

    it('pay dues that were raised, and not more than them unless rolled back or let off later', async () => {
      await expectNone(`, ${lines} select id, head, month from lines where not exists (
        select from r where r.collection = 'fee_due' and r.data->'student' = lines.data->'student'
          and r.data->>'month' = month and r.data->>'fee_head' = head)`);
      await expectNone(`, ${lines}, paid as (
          select data->'student' as student, month, head, sum(amount) as amount
          from lines where data->>'status' = 'active' group by 1, 2, 3)
        select paid.* from paid join r on r.collection = 'fee_due' and r.data->'student' = paid.student
          and r.data->>'month' = paid.month and r.data->>'fee_head' = paid.head
        where paid.amount > (r.data->>'amount')::numeric`);
    });

    it('say who rolled them back, when and why; what replaces one came after it', async () => {
      await expectNone(`select id from r where collection = 'fee_receipt'
        and (data->>'status' = 'rolled_back')
        <> (data ?& '{rolled_back_on,rolled_back_by,rollback_reason,rollback_type}')`);
      await expectNone(`select r.id from r left join r old on old.collection = 'fee_receipt'
          and old.data->>'receipt_no' = r.data->>'replaces' and old.data->>'status' = 'rolled_back'
        where r.collection = 'fee_receipt' and r.data ? 'replaces'
          and (old.id is null or old.data->>'rolled_back_on' > r.data->>'date')`);
      expect(
        await value(`select array_agg(distinct data->>'rollback_type') from r where data ? 'rollback_type'`),
      ).toEqual(['bounce', 'duplicate', 'entry_error', 'refund']);
    });

    it('are of every payment type, with fines, parts and advances', async () => {
      expect(
        await value(
          `select array_agg(distinct data->>'payment_type') from r where collection = 'fee_receipt'`,
        ),
      ).toEqual(['card', 'cash', 'cheque', 'neft']);
      expect(await value(`, ${lines} select count(*)::int from lines where fine > 0`)).toBeGreaterThan(20);
      expect(
        await value(`, ${lines} select count(*)::int from lines where month > left(data->>'date', 7)`),
      ).toBeGreaterThan(100);
    });
  });

  it('has defaulters, about one student in seven', async () => {
    const share = await value(`, paid as (
        select r.data->'student'->>'value' as student, line->>'month' as month, line->>'fee_head' as head,
          sum((line->>'amount')::numeric) as amount
        from r, jsonb_array_elements(r.data->'lines') line
        where collection = 'fee_receipt' and data->>'status' = 'active' group by 1, 2, 3),
      dues as (
        select due.data->'student'->>'value' as student, (due.data->>'amount')::numeric as amount,
          coalesce(paid.amount, 0) as paid,
          (select coalesce(sum(case when c.data->>'kind' = 'percent'
              then round((due.data->>'amount')::numeric * (c.data->>'value')::numeric / 100, 2)
              else (c.data->>'value')::numeric end), 0)
           from r c where c.collection = 'fee_concession' and c.data->'name' = due.data->'student'
             and coalesce(c.data->>'fee_head', due.data->>'fee_head') = due.data->>'fee_head'
             and due.data->>'month' between c.data->>'from_month' and c.data->>'to_month'
             and coalesce(c.data->>'revoked_on', '9999') > '${TODAY}') as concession
        from r due left join paid on paid.student = due.data->'student'->>'value'
          and paid.month = due.data->>'month' and paid.head = due.data->>'fee_head'
        where due.collection = 'fee_due' and due.data->>'due_date' <= '${TODAY}' and not due.data ? 'cancelled_on')
      select (count(distinct student) filter (where amount - least(amount, concession) > paid))::float
        / count(distinct student) from dues`);
    expect(share).toBeGreaterThan(0.08);
    expect(share).toBeLessThan(0.24);
  });

  it('is attended by 92 of 100, on working days, by students on roll', async () => {
    expect(
      await value(`select (avg(case data->>'status' when 'present' then 1 when 'late' then 1
        when 'half_day' then 0.5
        else 0 end) * 100)::float from r where collection = 'attendance'`),
    ).toBeCloseTo(92, -0.5);
    await expectNone(`select r.id from r join r h on h.collection = 'holiday' and h.data->>'working' = 'false'
        and h.data->>'date' = left(((r.data->>'created')::timestamptz at time zone 'Asia/Kolkata')::text, 10)
        and (h.data->'classes' = '[]' or h.data->'classes' ? (r.data->>'class'))
      where r.collection = 'attendance'`);
    await expectNone(`select r.id from r join r s on s.collection = 'registration'
      and s.id = r.data->'student'->>'value'
      where r.collection = 'attendance' and (r.data->>'created' < s.data->>'admitted_on'
        or left(r.data->>'created', 10) > coalesce(s.data->>'left_on', '9999'))`);
    const statuses = `select array_agg(distinct data->>'status') from r where collection = `;
    expect(await value(`${statuses}'attendance'`)).toEqual([
      'absent',
      'half_day',
      'late',
      'leave',
      'present',
    ]);
    expect(await value(`${statuses}'teacher_attendance'`)).toEqual([
      'absent',
      'half_day',
      'leave',
      'on_duty',
      'present',
    ]);
  });

  it('has days of sections that nobody marked', async () => {
    const unmarked = await value(`, marked as (
        select data->>'class' as class, data->>'section' as section, left(data->>'created', 10) as day
        from r where collection = 'attendance' group by 1, 2, 3)
      select (count(*) - (select count(*) from marked))::int
      from (select distinct class, section from marked) s, (select distinct day from marked) d`);
    expect(unmarked).toBeGreaterThan(2);
    expect(unmarked).toBeLessThan(60);
  });

  it('has results of both terms with marks within their maximum', async () => {
    expect(
      await value(`select array_agg(distinct data->>'term') from r where collection = 'result'`),
    ).toEqual(['finalyear', 'halfyear']);
    const states = `select component->>'state' as state, count(*)::int,
        bool_and((component ? 'marks') = (component->>'state' = 'scored')) as "isConsistent",
        coalesce(bool_and((component->>'marks')::numeric <= (component->>'max')::numeric), true) as "isWithin"
      from r, jsonb_path_query(data, '$.subjects[*].components[*]') as component
      where collection = 'result' group by 1 order by 1`;
    expect(await rows(states)).toEqual(
      ['absent', 'exempt', 'not_entered', 'scored'].map((state) => ({
        state,
        count: expect.any(Number),
        isConsistent: true,
        isWithin: true,
      })),
    );
  });

  it('sent some texts more than once to a number, and some in vain', async () => {
    expect(
      await value(`select count(*)::int from (select from r where collection = 'sms_log'
        group by data->>'to', data->>'text', left(data->>'created_on', 10) having count(*) > 1) repeated`),
    ).toBeGreaterThan(20);
    expect(
      await value(`select array_agg(distinct data->>'status') from r where collection = 'sms_log'`),
    ).toEqual(expect.arrayContaining(['delivered', 'failed']));
  });

  it('seats every section within its capacity under a teacher who is here', async () => {
    await expectNone(`, strength as (
        select data->>'class' as class, data->>'section' as section, count(*) as count
        from r where collection = 'registration' and data->>'status' = 'active' group by 1, 2)
      select class, section from strength where not exists (
        select from r c, jsonb_array_elements(c.data->'sections') s
          join r t on t.collection = 'pltf_user' and t.id = s->'class_teacher'->>'value'
            and t.data->'active' = 'true' and t.data->'roles' ? 'teacher'
        where c.collection = 'class' and c.data->>'name' = class and s->>'name' = section
          and (s->>'capacity')::int >= strength.count)`);
  });

  it('grants concessions of every kind, some of them for months already paid', async () => {
    expect(
      await value(`select array_agg(distinct data->>'type') from r where collection = 'fee_concession'`),
    ).toEqual(['RTE', 'hardship', 'merit', 'sibling', 'staff']);
    expect(
      await value(`select count(*)::int from r where collection = 'fee_concession'
        and left(data->>'created_on', 7) > data->>'from_month'`),
    ).toBeGreaterThan(2);
  });

  it('is replaced when told to', async () => {
    const again = await load({ onExisting: 'replace', demo: { ...SCHOOL, students: 24 } });
    expect(await value(`select count(*)::int from r where collection = 'registration'`)).toBe(24);
    const { rows: found } = await test.database.pool.query('select count(*)::int as count from records');
    expect(found).toEqual([{ count: again.recordCount }]);
  });
});
