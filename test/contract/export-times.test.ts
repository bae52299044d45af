/** Tables for people: days and times of the school, a row for each line, the same columns for any data. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { strFromU8, unzipSync } from 'fflate';
import { useGateway } from './gateway.js';

const gateway = useGateway();

async function send(collection: string, records: readonly object[]): Promise<void> {
  const response = await gateway.fetch(`/o/${collection}`, {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(records),
  });
  if (!response.ok) throw new Error(await response.text());
}

async function read(query: string): Promise<string> {
  return await (await gateway.fetch(`/o/recs/${query}`, { as: 'admin' })).text();
}

beforeAll(async () => {
  await gateway.sql.query(`insert into records (domain, collection, id, data) values
    ('top', 'fee_receipt', 'r-1', '{"receipt_no": "R-1", "date": "2026-11-26T18:30:00.000Z", "lines":
      [{"fee_head": "Tuition", "amount": 100}, {"fee_head": "Transport", "amount": 50.5}], "extra": 1}'),
    ('top', 'fee_receipt', 'r-2', '{"receipt_no": "R-2", "date": "2026-11-27T04:00:00.250Z", "lines": []}')`);
  await send('task', [{ _id: 't-1', name: 'Chalk' }]);
});

describe('instants', () => {
  it.each([
    ['format=csv', '2026-11-26T18:30:00.000Z', '2026-11-27T04:00:00.250Z'],
    ['format=csv&times=school', '2026-11-27', '2026-11-27 09:30:00.250'],
    ['format=csv&bom=true', '2026-11-27', '2026-11-27 09:30:00.250'],
    ['format=csv&bom=true&times=utc', '2026-11-26T18:30:00.000Z', '2026-11-27T04:00:00.250Z'],
  ])('of %s', async (query, ...dates) => {
    const [, ...lines] = (await read(`fee_receipt?project=date&sort=_id&${query}`)).trim().split('\r\n');
    expect(lines.map((line) => line.split(',')[1])).toEqual(dates);
  });

  it.each(['format=ndjson&times=school', 'format=parquet&times=school', 'format=csv&times=local'])(
    'are refused for %s',
    async (query) => {
      const response = await gateway.fetch(`/o/recs/fee_receipt?${query}`, { as: 'admin' });
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ errors: [expect.objectContaining({ parameter: 'times' })] }),
      ]);
    },
  );
});

describe('expand', () => {
  it('gives a row for each line, with the columns of the record repeated', async () => {
    const text = await read('fee_receipt?format=csv&expand=lines&project=receipt_no,lines&sort=_id');
    const [heading = '', ...lines] = text.trim().split('\r\n');
    const columns = heading.split(',');
    const rows = lines.map((line) =>
      Object.fromEntries(line.split(',').map((cell, i) => [columns[i], cell])),
    );
    expect(columns).toContain('other fields');
    expect(columns).not.toContain('lines');
    expect(rows.map((row) => [row._id, row.receipt_no, row['lines.fee_head'], row['lines.amount']])).toEqual([
      ['r-1', 'R-1', 'Tuition', '100'],
      ['r-1', 'R-1', 'Transport', '50.5'],
      ['r-2', 'R-2', '', ''],
    ]);
  });

  it('has the same columns whatever the data', async () => {
    const headingOf = async (filter: string) =>
      (await read(`fee_receipt?format=csv&expand=lines&${filter}`)).split('\r\n')[0];
    expect(await headingOf('oquery=receipt_no=R-1')).toMatch(/^_id,.*lines\.fee_head.*,other fields$/);
    expect(await headingOf('oquery=receipt_no=R-2')).toBe(await headingOf('oquery=receipt_no=R-1'));
    expect(await headingOf('oquery=receipt_no=none')).toBe(await headingOf('oquery=receipt_no=R-1'));
  });

  it.each([
    ['task', 'format=csv&expand=name'],
    ['fee_receipt', 'format=csv&expand=line'],
    ['fee_receipt', 'format=csv&expand=student'],
    ['fee_receipt', 'format=ndjson&expand=studnt'],
    ['fee_receipt', 'limit=5&expand=receipt_no'],
  ])('is refused for %s?%s', async (collection, query) => {
    const response = await gateway.fetch(`/o/recs/${collection}?${query}`, { as: 'admin' });
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ parameter: 'expand' })] }),
    ]);
  });
});

describe('expand as JSON', () => {
  beforeAll(async () => {
    await gateway.sql.query(`insert into records (domain, collection, id, data) values
      ('top', 'registration', 's-1', '{"name": "Asha", "father_phone": "+919876543210", "fee": 10.50}'),
      ('top', 'attendance', 'a-1', '{"student": {"value": "s-1", "label": "A"},
        "marked_by": {"value": "usr-teacher", "label": "T"}}'),
      ('top', 'attendance', 'a-2', '{"student": {"value": "gone", "label": "G"}}'),
      ('top', 'attendance', 'a-3', '{"student": null}')`);
  });
  const asha = { _id: 's-1', name: 'Asha', father_phone: '+919876543210', fee: 10.5 };
  const attendance = [
    { value: 's-1', label: 'A', record: asha },
    { value: 'gone', label: 'G', record: null },
    null,
  ];

  it.each(['limit=5', 'stream=true', 'sort=_id', 'limit=5&format=ndjson', 'stream=true&format=ndjson'])(
    'puts the records that references point to into a list: %s',
    async (query) => {
      const text = await read(`attendance?expand=student&project=student&${query}`);
      const records = query.includes('ndjson') ? `[${text.trim().split('\n').join(',')}]` : text;
      expect(JSON.parse(records)).toEqual(attendance.map((student, i) => ({ _id: `a-${i + 1}`, student })));
      expect(text).toContain('10.50');
    },
  );

  it.each(['attendance/a-1?', 'attendance?limit=1&'])(
    'adds what it names to a projection: %s',
    async (path) => {
      const found = JSON.parse(await read(`${path}project=class&expand=student`));
      expect([found].flat()).toEqual([{ _id: 'a-1', student: attendance[0] }]);
    },
  );

  it('puts them into one record, without an ETag', async () => {
    const response = await gateway.fetch('/o/recs/attendance/a-1?expand=student,marked_by', { as: 'admin' });
    expect(response.headers.get('etag')).toBeNull();
    expect(await response.json()).toMatchObject({
      student: { record: asha },
      marked_by: { value: 'usr-teacher', record: { _id: 'usr-teacher', user_name: 'teacher' } },
    });
  });

  it('accepts a list of objects, whose elements are there in any case', async () => {
    const [receipt] = JSON.parse(await read('fee_receipt?limit=1&expand=lines,student'));
    expect(receipt.lines).toHaveLength(2);
    expect(JSON.parse(await read('fee_receipt?oquery=receipt_no=none&expand=student'))).toEqual([]);
  });

  it('shows no more of a record than its reader may read', async () => {
    const get = async (path: string) =>
      JSON.parse(await (await gateway.fetch(`/o/recs/${path}`, { as: 'viewer' })).text());
    const direct = await get('registration/s-1');
    const [record] = await get('attendance?limit=1&expand=student,marked_by');
    expect(record.student.record).toEqual(direct);
    expect(record.marked_by.record).toEqual(expect.objectContaining({ name: 'The teacher' }));
    expect(record.marked_by.record).not.toHaveProperty('user_name');
  });
});

describe('GET /exports/{format}', () => {
  it.each([
    ['tally', ['R-1', 'R-2']],
    ['tally?from=2026-11-27', ['R-1', 'R-2']],
    ['tally?from=2026-11-28', []],
    ['tally?to=2026-11-26', []],
    ['tally?from=2026-11-27&to=2026-11-27', ['R-1', 'R-2']],
  ])('%s has the receipts of the days of the school', async (query, numbers) => {
    const response = await gateway.fetch(`/exports/${query}`, { as: 'admin' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
    const files = unzipSync(new Uint8Array(await response.arrayBuffer()));
    const vouchers = strFromU8(files['tally-receipts.xml'] ?? new Uint8Array());
    expect([...vouchers.matchAll(/<VOUCHERNUMBER>(.*?)</g)].map(([, number]) => number)).toEqual(numbers);
    expect(vouchers).toMatch(/^<\?xml [\s\S]*<\/ENVELOPE>\n$/);
  });

  it.each([
    ['tally?from=2026-11-31', 'from is "2026-11-31"; expected a day YYYY-MM-DD.'],
    ['tally?from=2026-11-30&to=2026-11-01', 'to is "2026-11-01"; expected 2026-11-30 or later.'],
    ['tally?since=2026-11-01', 'tally cannot be limited to changes: leave since out.'],
    ['oneroster?to=2026-11-01', 'oneroster has no days: leave to out.'],
    ['oneroster?since=2001-01-01', 'since is more than'],
    ['onerooster', 'The parameter format is "onerooster"; expected one of oneroster, tally, udise.'],
    ['..%2Ftally', 'expected one of oneroster, tally, udise'],
  ])('refuses %s', async (query, detail) => {
    const response = await gateway.fetch(`/exports/${query}`, { as: 'admin' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(JSON.stringify(detail).slice(1, -1));
  });

  it('exports nothing to those who may not read it', async () => {
    expect((await gateway.fetch('/exports/tally')).status).toBe(401);
    expect((await gateway.fetch('/exports/tally', { as: 'viewer' })).status).toBe(403);
  });
});
