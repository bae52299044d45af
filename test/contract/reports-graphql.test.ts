/** Every report over HTTP, by GraphQL and by REST, on the twelve students: both say the same. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { GraphQLScalarType } from 'graphql';
import type { RowClass } from '../../src/school/reports/engine/columns.js';
import type { Report } from '../../src/school/reports/engine/report.js';
import { reports } from '../../src/school/reports/registry.js';
import { REPORT_EXAMPLES } from '../fixtures/twelve-students/report-examples.js';
import { storedRecords } from '../fixtures/twelve-students/stored-records.js';
import { deriveRows } from './derive-rows.js';
import { useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';

const gateway = useGateway();

beforeAll(async () => {
  for (const { collection, records } of await storedRecords()) {
    await gateway.sql.query(
      `insert into records (domain, collection, id, data, keys)
       select d.id, $1, line->>'id', line->'data', nullif(line->'keys', 'null')
         from domains d, jsonb_array_elements($2::jsonb) as line
       on conflict do nothing`,
      [collection, JSON.stringify(records.filter(({ id }) => !id.startsWith('usr-a')))],
    );
  }
  await deriveRows(gateway.sql);
});

const asked = Object.entries(REPORT_EXAMPLES).map(
  ([name, sent]): [string, Report, Readonly<Record<string, string>>] => {
    const report = reports.find((candidate) => candidate.name === name);
    if (!report) throw new Error(`there is no report ${name}`);
    return [name, report, sent];
  },
);

describe('a part of a report by GraphQL', () => {
  const PARAMETERS = 'session: "2026-27"';

  it('says of an alias, a fragment and what is not skipped the same as the whole', async () => {
    const { whole, part } = await ask(
      gateway,
      `query ($no: Boolean = false) {
        whole: strength(${PARAMETERS}) { rows { class section boys girls } totals { strength boys } }
        part: strength(${PARAMETERS}) {
          ...Rows
          ... on StrengthReport { totals { every: strength boys @include(if: $no) } }
          rows { girls @skip(if: $no) }
        }
      }
      fragment Rows on StrengthReport { rows { room: section } }`,
    );
    const rows = whole.rows.map(({ section, girls }: Record<string, unknown>) => ({ room: section, girls }));
    expect(rows).not.toEqual([]);
    expect(part).toEqual({ rows, totals: { every: whole.totals.strength } });
  });

  it('counts the rows, and says whether there are more, where no row is asked for', async () => {
    const { strength } = await ask(
      gateway,
      `{ strength(${PARAMETERS}, first: 1) { rowCount pageInfo { hasNextPage } } }`,
    );
    expect(strength).toEqual({ rowCount: 4, pageInfo: { hasNextPage: true } });
  });

  it('says what of it needs no record', async () => {
    const { strength } = await ask(gateway, `{ strength(${PARAMETERS}) { currency parameters __typename } }`);
    expect(strength).toEqual({
      currency: 'INR',
      parameters: { session: '2026-27', date: expect.any(String) },
      __typename: 'StrengthReport',
    });
  });
});

describe('the id of a row', () => {
  it.each(asked)(
    'of %s is the same when it is asked for again, and no other row has it',
    async (_, report, sent) => {
      const query = `{ ${report.field}(${printArguments(report, sent)}, first: 1000) { rows { id } } }`;
      const idsOf = async () =>
        (await ask(gateway, query))[report.field].rows.map(({ id }: { id: string }) => id);
      const ids = await idsOf();
      expect(ids.length).toBeGreaterThan(0);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await idsOf()).toEqual(ids);
    },
  );

  it('does not depend on the page, and does on the parameters', async () => {
    const { first, all, other } = await ask(
      gateway,
      `{
        first: strength(session: "2026-27", first: 1) { rows { id } pageInfo { endCursor } }
        all: strength(session: "2026-27") { rows { id } }
        other: outstandingAgeing(asOn: "2026-12-20") { rows { id } }
      }`,
    );
    const { next, later } = await ask(
      gateway,
      `{
        next: strength(session: "2026-27", after: "${first.pageInfo.endCursor}") { rows { id } }
        later: outstandingAgeing(asOn: "2026-12-19") { rows { id } }
      }`,
    );
    expect([...first.rows, ...next.rows]).toEqual(all.rows);
    const ids = new Set(other.rows.map(({ id }: { id: string }) => id));
    expect(ids.size).toBeGreaterThan(0);
    expect(later.rows.filter(({ id }: { id: string }) => ids.has(id))).toEqual([]);
  });
});

describe('a report by GraphQL and by REST', () => {
  it.each(asked)('%s: both say the same', async (name, report, sent) => {
    const rest = await gateway.fetch(`/?report=${name}&${new URLSearchParams(sent)}`, { as: 'admin' });
    expect(rest.status).toBe(200);
    const byRest: Answered = await rest.json();
    const { [report.field]: byGraphql } = await ask(
      gateway,
      `{ ${report.field}(${printArguments(report, sent)}, first: 1000) {
        rows ${selectionOf(report.row)} totals ${selectionOf(report.totals)}
        warnings { collection reason count ids } parameters currency
      } }`,
    );
    expect(byRest.rows.length).toBeGreaterThan(0);
    expect(byGraphql.rows.map((row: Answered) => withNumbers(row, report.row))).toEqual(byRest.rows);
    expect(withNumbers(byGraphql.totals, report.totals)).toEqual(byRest.totals);
    expect(new Set(byGraphql.warnings.map(print))).toEqual(new Set(byRest.warnings.map(print)));
    expect(byGraphql.parameters).toEqual(byRest.parameters);
    expect(byGraphql.currency).toBe(byRest.currency);
  });

  it('gives the register of a class on its documented path', async () => {
    const answers = await Promise.all(
      [
        '/attendancebyclassbymonth/5/2026-04-01/2026-05-31',
        '/?report=class-attendance&class=5&start=2026-04-01&end=2026-05-31',
      ].map(async (path): Promise<Answered> => (await gateway.fetch(path, { as: 'clerk' })).json()),
    );
    const [onPath, byName] = answers.map(({ rows, totals }) => ({ rows, totals }));
    expect(onPath?.rows).toHaveLength(13);
    expect(onPath).toEqual(byName);
  });

  it('prints money on REST as numbers with two decimals, in GraphQL as exact text', async () => {
    const text = await (
      await gateway.fetch('/feesummary.svc?type=head&session=2026-27&as_on=2026-12-20', { as: 'accountant' })
    ).text();
    expect(text).toMatch(/"demand" ?: ?46000\.00,/);
    const { feeSummary } = await ask(
      gateway,
      '{ feeSummary(type: HEAD, session: "2026-27", asOn: "2026-12-20") { rows { demand } } }',
    );
    expect(feeSummary.rows).toEqual([{ demand: '46000.00' }, { demand: '3999.96' }]);
  });

  it('refuses alike: without a credential, to another role, with a wrong parameter', async () => {
    const query = '{ feeSummary(type: MONTH) { totals { demand } } }';
    expect(await codesOf(gateway, { query })).toEqual(['UNAUTHENTICATED']);
    expect(await codesOf(gateway, { query, as: 'viewer' })).toEqual(['FORBIDDEN']);
    expect(
      await codesOf(gateway, {
        query: '{ feeSummary(type: MONTH, session: "2026-28") { totals { demand } } }',
        as: 'admin',
      }),
    ).toEqual(['INVALID_VALUE']);
  });

  it('names what is wrong as the caller has sent it', async () => {
    const query = '{ feeDefaulters(startMonth: "2026-09", endMonth: "2026-04") { rowCount } }';
    const { errors } = await send(gateway, { query, as: 'admin' });
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('endMonth is 2026-04, before startMonth 2026-09'),
      extensions: { errors: [{ parameter: 'endMonth' }] },
    });
    const path = '/getfeedefaultersv2.svc?start_month=2026-09&end_month=2026-04';
    const { detail } = (await (await gateway.fetch(path, { as: 'admin' })).json()) as Answered;
    expect(detail).toContain('end_month is 2026-04, before start_month 2026-09');
  });
});

describe('receipts by GraphQL', () => {
  it('are recorded and rolled back, once', async () => {
    const record =
      'mutation { recordReceipt(receipt: {studentId: "stu-09", paymentType: CASH, amount: "1500.50"}) ' +
      '{ receiptNo total lines { month feeHead amount } } }';
    expect(await codesOf(gateway, { query: record, as: 'clerk' })).toEqual(['FORBIDDEN']);
    const { recordReceipt } = await ask(gateway, record, { as: 'accountant' });
    // The fixture's last number is R-16.
    expect(recordReceipt).toMatchObject({ receiptNo: 'R-17', total: '1500.50' });
    const rollBack =
      'mutation { rollBackReceipt(rollback: {receiptNo: "R-17", reason: "Typed twice", type: ' +
      'DUPLICATE}) { status rollbackType } }';
    expect(await ask(gateway, rollBack, { as: 'accountant' })).toEqual({
      rollBackReceipt: { status: 'rolled_back', rollbackType: 'duplicate' },
    });
    expect(await codesOf(gateway, { query: rollBack, as: 'accountant' })).toEqual(['CONFLICT']);
  });

  it('cannot be written, edited or deleted as records, not even by an admin', async () => {
    const answer = await gateway.fetch('/o/recs/fee_receipt/rec-1', { as: 'admin', method: 'DELETE' });
    expect(answer.status).toBe(403);
  });
});

function selectionOf(rowClass: RowClass): string {
  const fields = rowClass.columns.map(({ name, rowClass: inner }) =>
    inner ? `${name} ${selectionOf(inner)}` : name,
  );
  return `{ ${fields.join(' ')} }`;
}

function printArguments(report: Report, sent: Readonly<Record<string, string>>): string {
  return Object.entries(report.parameters)
    .flatMap(([name, { restName, type }]) => {
      const value = sent[restName];
      if (value === undefined) return [];
      if (type.graphql === Boolean) return [`${name}: ${value}`];
      const isText = type.graphql === String || type.graphql instanceof GraphQLScalarType;
      return [`${name}: ${isText ? JSON.stringify(value) : value.toUpperCase()}`];
    })
    .join(', ');
}

/** Money of GraphQL as REST writes it. */
function withNumbers(row: Answered, rowClass: RowClass): Answered {
  return Object.fromEntries(
    rowClass.columns.map(({ name, type, rowClass: inner }) => {
      const value = row[name];
      if ((type === 'money' || type === 'decimal') && value !== null) return [name, Number(value)];
      if (type === 'row' && inner && value !== null) return [name, withNumbers(value, inner)];
      if (type === 'rows' && inner)
        return [name, value.map((element: Answered) => withNumbers(element, inner))];
      return [name, value];
    }),
  );
}

function print(value: unknown): string {
  return JSON.stringify(value);
}
