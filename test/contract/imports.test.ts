/** Imports over HTTP: a file is taken, mapped, tried and run, and says what it did. */
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { type Role, useGateway } from './gateway.js';

const gateway = useGateway({ IMPORT_ROLES: 'admin,clerk' });

interface ImportAnswer {
  readonly id: string;
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly mapping: {
    readonly columns: readonly { readonly column: string; readonly field: string | null }[];
  };
  readonly by: string;
  readonly fileId: string;
  readonly changeIds: readonly string[];
  readonly trial: {
    readonly counts: Readonly<Record<string, number>>;
    readonly preview: readonly unknown[];
  } | null;
  readonly fault: { readonly code: string; readonly detail: string } | null;
}

/** The states in which an import waits for its caller, or is over. */
const RESTING = ['ready', 'tried', 'done', 'undone', 'failed', 'cancelled'];

async function ask(
  method: string,
  path: string,
  body?: string | object,
  as: Role = 'admin',
): Promise<ImportAnswer> {
  const response = await gateway.fetch(path, {
    method,
    as,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(typeof body === 'object' && { headers: { 'content-type': 'application/json' } }),
  });
  const answer = (await response.json()) as ImportAnswer;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

async function rested(id: string, as: Role = 'admin'): Promise<ImportAnswer> {
  let one = await ask('GET', `/imports/${id}`, undefined, as);
  await eventually(async () => {
    one = await ask('GET', `/imports/${id}`, undefined, as);
    return RESTING.includes(one.state);
  });
  return one;
}

async function take(collection: string, csv: string, parameters = ''): Promise<ImportAnswer> {
  const { id } = await ask('POST', `/imports?collection=${collection}&name=file.csv${parameters}`, csv);
  return await rested(id);
}

async function run(id: string, parameters = ''): Promise<ImportAnswer> {
  await ask('POST', `/imports/${id}/run?${parameters}`);
  return await rested(id);
}

const STUDENTS = 'sequence,name,class,section,gender,dob,session,admitted_on';
const student = (
  sequence: string,
  others: Partial<Record<'name' | 'class' | 'gender' | 'dob' | 'id', string>> = {},
) =>
  [sequence, others.name ?? `Student ${sequence}`, others.class ?? '5', 'A', others.gender ?? 'female']
    .concat([others.dob ?? '2015-06-01', '2026-27', '2026-04-01'])
    .join(',');
const sheetOf = (...rows: readonly string[]) => `${[STUDENTS, ...rows].join('\n')}\n`;

async function records(collection: string, oquery = ''): Promise<readonly Record<string, unknown>[]> {
  const response = await gateway.fetch(
    `/o/recs/${collection}?limit=1000&sort=_id${oquery && `&oquery=${oquery}`}`,
    {
      as: 'admin',
    },
  );
  return (await response.json()) as Record<string, unknown>[];
}

async function refusal(method: string, path: string, as?: Role, body?: string): Promise<{ status: number }> {
  const response = await gateway.fetch(path, { method, as, ...(body !== undefined && { body }) });
  await response.body?.cancel();
  return { status: response.status };
}

describe('an import', () => {
  it('takes a CSV, proposes a mapping, and makes its rows records', async () => {
    const taken = await take(
      'holiday',
      '_id,date,name\nh-1,2026-08-15,Independence Day\nh-2,2026-10-02,Gandhi Jayanti\n',
    );
    expect(taken).toMatchObject({ state: 'ready', by: '_id', fault: null });
    expect(taken.mapping.columns).toEqual([
      { column: '_id', field: '_id' },
      { column: 'date', field: 'date' },
      { column: 'name', field: 'name' },
    ]);
    const done = await run(taken.id, 'mode=rows');
    expect(done).toMatchObject({ state: 'done', fault: null, counts: { rows: 2, created: 2, refused: 0 } });
    const [first] = await records('holiday', 'name=Independence Day');
    expect(first).toMatchObject({ _id: 'h-1', date: '2026-08-15', name: 'Independence Day', working: false });
  });

  it('reads back a Parquet file that was exported, and says what is wrong with one that is cut', async () => {
    const made = await ask('POST', '/o/task', {
      name: 'From Parquet',
      amount: 12.25,
      list: ['a'],
      day: '2026-03-31',
    });
    expect(made).toBeDefined();
    const exported = await gateway.fetch('/o/recs/task?oquery=name=From Parquet&format=parquet', {
      as: 'admin',
    });
    const file = Buffer.from(await exported.arrayBuffer());
    const headers = { 'content-type': 'application/vnd.apache.parquet' };
    const takeParquet = async (body: Buffer) => {
      const sent = await gateway.fetch('/imports?collection=task', {
        method: 'POST',
        as: 'admin',
        headers,
        body,
      });
      return await rested(((await sent.json()) as ImportAnswer).id);
    };
    const taken = await takeParquet(file);
    expect(taken).toMatchObject({ state: 'ready', by: '_id' });
    expect((await run(taken.id)).counts).toMatchObject({ rows: 1, same: 1, created: 0, updated: 0 });
    expect(await takeParquet(file.subarray(0, -10))).toMatchObject({
      state: 'failed',
      fault: { code: 'MALFORMED_REQUEST', detail: expect.stringContaining('Parquet file is damaged') },
    });
  });

  it('makes users, and starts the scripts after each record that it makes', async () => {
    const query = `mutation { saveScript(script: {name: "seen", code: "platform.log(args.id)",
      after: [{collection: "pltf_user", operations: [CREATE]}], serviceRoles: ["admin"]}) { name } }`;
    await ask('POST', '/graphql', { query });
    const roles = '"[""clerk""]"';
    const users = `_id,user_name,name,active,roles\nu-1,one,One,true,${roles}\nu-2,two,Two,true,${roles}\n`;
    const taken = await take('pltf_user', users);
    const done = await run(taken.id, 'triggers=after');
    expect(done).toMatchObject({ state: 'done', fault: null, counts: { created: 2, refused: 0 } });
    await eventually(async () => {
      const { rows } = await gateway.sql.query(`select message from script_log where script = 'seen'`);
      return (
        rows
          .map(({ message }) => message)
          .sort()
          .join() === 'u-1,u-2'
      );
    });
  });

  it('finds records by a unique field, writes what is another and leaves the rest', async () => {
    const first = await take('registration', sheetOf(student('A-1'), student('A-2')));
    expect(first.by).toBe('sequence');
    expect((await run(first.id)).counts).toMatchObject({ rows: 2, created: 2 });
    const [one] = await records('registration', 'sequence=A-1');
    const [two] = await records('registration', 'sequence=A-2');
    const again = await take(
      'registration',
      sheetOf(student('A-1'), student('A-2', { class: '6' }), student('A-3')),
    );
    await ask('POST', `/imports/${again.id}/dry-run`);
    const tried = await rested(again.id);
    expect(tried).toMatchObject({
      state: 'tried',
      trial: {
        counts: { rows: 3, created: 1, updated: 1, same: 1, refused: 0 },
        fields: [{ field: 'class', records: 1 }],
        preview: [
          { number: 2, outcome: 'same', fields: null, recordId: one?._id, label: one?.name },
          { number: 3, outcome: 'update', fields: ['class'], recordId: two?._id, label: two?.name },
          { number: 4, outcome: 'create', fields: null, recordId: null, label: 'Student A-3' },
        ],
        isCurrent: true,
      },
    });
    expect(await records('registration', 'sequence=A-3')).toEqual([]);
    expect((await run(again.id)).counts).toMatchObject({ rows: 3, created: 1, updated: 1, same: 1 });
    expect((await records('registration', 'class=6')).map(({ sequence }) => sequence)).toEqual(['A-2']);
  });

  it('makes the same file again the same records, though it names none', async () => {
    const file = 'date,name\n2026-11-01,A day\n2026-11-02,Another day\n';
    const { id } = await take('holiday', file);
    expect((await run(id)).counts).toMatchObject({ created: 2, same: 0 });
    const again = await take('holiday', file);
    expect((await run(again.id)).counts).toMatchObject({ created: 0, same: 2 });
    expect(await records('holiday', 'date=2026-11-01')).toHaveLength(1);
  });

  it('tells what comes twice of rows that are refused for something else, too', async () => {
    const { id } = await take(
      'registration',
      sheetOf(
        student('T-1', { gender: 'x' }),
        student('T-1', { name: 'After a wrong one' }),
        student('T-2', { dob: '31.06.2015' }),
        student('T-2', { name: 'After a day that is none' }),
        student('T-3'),
        student('T-3', { dob: '31.06.2015' }),
        student('T-4'),
      ),
    );
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ rows: 7, created: 2, refused: 5 });
    expect(await (await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' })).json()).toMatchObject([
      { number: 2, faults: [{ column: 'gender' }] },
      { number: 3, faults: [{ column: 'sequence', detail: 'row 2 of the file has the same sequence' }] },
      { number: 4, faults: [{ column: 'dob' }] },
      { number: 5, faults: [{ column: 'sequence', detail: 'row 4 of the file has the same sequence' }] },
      {
        number: 7,
        faults: [
          { column: 'dob' },
          { column: 'sequence', detail: 'row 6 of the file has the same sequence' },
        ],
      },
    ]);
  });

  it('tells every row that is wrong, and what would be right; corrected, the list is imported', async () => {
    const faulty = sheetOf(
      student('B-1'),
      student('B-2', { gender: 'x' }),
      student('B-3', { dob: '31.06.2015' }),
      student('B-1', { name: 'Twice' }),
      student(''),
      student('B-6', { name: '=cmd()' }),
    );
    const { id } = await take('registration', faulty);
    const failed = await run(id, 'mode=atomic');
    expect(failed).toMatchObject({
      state: 'failed',
      fault: { code: 'INVALID_VALUE' },
      counts: { rows: 6, created: 0, refused: 4 },
    });
    expect(await records('registration', 'sequence=B-1')).toEqual([]);
    const rows = (await (await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' })).json()) as unknown[];
    expect(rows).toMatchObject([
      { number: 3, faults: [{ column: 'gender', expected: 'one of male, female, other', sent: 'x' }] },
      { number: 4, faults: [{ column: 'dob', sent: '31.06.2015' }] },
      { number: 5, faults: [{ column: 'sequence', detail: 'row 2 of the file has the same sequence' }] },
      { number: 6, faults: [{ detail: 'the row has no sequence to tell its record by' }] },
    ]);
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ rows: 6, created: 2, refused: 4 });
    const errors = await (await gateway.fetch(`/imports/${id}/errors.csv`, { as: 'admin' })).text();
    expect(errors.split('\r\n')[0]).toBe(`${STUDENTS},error`);
    expect(errors).toContain('row 3: gender: one of male, female, other is expected');
    const corrected = errors
      .replace(',x,', ',female,')
      .replace('31.06.2015', '2015-06-30')
      .replace('B-1,Twice', 'B-4,Once')
      .replace('"",Student', 'B-5,Student')
      .replace(/^,Student/m, 'B-5,Student');
    const second = await take('registration', corrected);
    expect(second.mapping.columns.at(-1)).toEqual({ column: 'error', field: null });
    expect((await run(second.id)).counts).toMatchObject({ rows: 4, created: 4, refused: 0 });
    const names = (await records('registration', 'sequence=B-6')).map(({ name }) => name);
    expect(names).toEqual(['=cmd()']);
  });

  it('tells documents that are wrong as a list that is imported, once it is corrected', async () => {
    const documents = [
      { _id: 'doc-1', name: 'Right', amount: 1 },
      { _id: 'doc-2', name: 'Wrong', amount: 'many', extra: { list: ['a', { b: 1.5 }], text: 'x, "y"' } },
    ];
    const lines = `${documents.map((document) => JSON.stringify(document)).join('\n')}\nno document\n`;
    const { id } = await ask('POST', '/imports?collection=task&name=tasks.ndjson', lines);
    await rested(id);
    const done = await run(id, 'mode=rows');
    expect(done.counts).toMatchObject({ rows: 3, created: 1, refused: 2 });
    const list = await (await gateway.fetch(`/imports/${id}/errors.csv`, { as: 'admin' })).text();
    const [header, wrong = '', broken = '', ...others] = list.trimEnd().split('\r\n');
    expect(header).toBe('…,error');
    expect(broken).toMatch(/^no document,"?row 3: /);
    expect(others).toEqual([]);
    const corrected = [
      wrong.replace('""many""', '2'),
      broken.replace('no document', '"{""name"":""Whole""}"'),
    ];
    const again = await take('task', `${[header, ...corrected].join('\n')}\n`);
    expect(await run(again.id)).toMatchObject({ state: 'done', counts: { rows: 2, created: 2 } });
    expect(await records('task', '_id=doc-2')).toEqual([
      expect.objectContaining({ ...documents[1], amount: 2 }),
    ]);
  });

  it('refuses the rows alone that hold what PostgreSQL cannot', async () => {
    const { id } = await take('task', '_id,name\nnul-1,Bell\nnul-2,Be\0ll\n');
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ created: 1, refused: 1 });
    const errors = await gateway.fetch(`/imports/${id}/errors.csv`, { as: 'admin' });
    expect(await errors.text()).toMatch(
      /^nul-2,Be\uFFFDll,"?row 3: name: a character that cannot be stored/m,
    );
  });

  it('finds what references point at by another field, and tells what it does not find', async () => {
    const csv = [
      'Adm No,Date,Status',
      'A-1,2026-07-01T03:30:00Z,P',
      'A-2,2026-07-01T03:30:00Z,A',
      'A-9,2026-07-01T03:30:00Z,P',
      '',
    ].join('\n');
    const { id, mapping: offered } = await take('attendance', csv);
    expect(offered.columns[0]).toEqual({ column: 'Adm No', field: 'student.sequence' });
    const mapping = {
      columns: [
        { column: 'Adm No', field: 'student.sequence' },
        { column: 'Date', field: 'created' },
        { column: 'Status', field: 'status', values: { P: 'present', A: 'absent' } },
      ],
      fixed: { class: '5', section: 'A' },
    };
    const mapped = await ask('PUT', `/imports/${id}/mapping?by=student,created&saveAs=marks`, mapping);
    expect(mapped).toMatchObject({ by: 'student,created', mapping });
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ rows: 3, created: 2, refused: 1 });
    const [wrong] = (await (
      await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' })
    ).json()) as object[];
    expect(wrong).toMatchObject({ number: 4, faults: [{ column: 'Adm No', sent: 'A-9' }] });
    const marks = await records('attendance');
    expect(marks.map(({ status }) => status).sort()).toEqual(['absent', 'present']);
    expect(marks[0]).toMatchObject({ student: { label: expect.stringMatching(/^Student A-/) } });
    const again = await take('attendance', csv, '&mapping=marks&by=student_day');
    expect((await run(again.id, 'mode=rows')).counts).toMatchObject({ created: 0, same: 2, refused: 1 });
  });

  it('tells a repeat of a refused row by values unique together, and by what the row says', async () => {
    const { id } = await take(
      'attendance',
      [
        'Adm No,Date,Status',
        'A-1,2026-07-02T03:30:00Z,X',
        'A-1,2026-07-02T05:00:00Z,P',
        'A-2,yesterday,P',
        // Without a day it is one of today, which the row before did not say.
        'A-2,,P',
        '',
      ].join('\n'),
      '&mapping=marks&by=student_day',
    );
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ rows: 4, created: 1, refused: 3 });
    expect(await (await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' })).json()).toMatchObject([
      { number: 2, faults: [{ column: 'Status' }] },
      { number: 3, faults: [{ detail: 'row 2 of the file has the same Adm No and Date' }] },
      { number: 4, faults: [{ column: 'Date' }] },
    ]);
  });

  it('tells what would become of each row, as the last dry run found', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => `each-${index},Task ${index},1`);
    const outcomes = async (id: string) => {
      const answer = await gateway.fetch(`/imports/${id}/outcomes.csv`, { as: 'admin' });
      return (await answer.text()).split('\r\n');
    };
    const first = await take('task', `_id,name,amount\n${rows.slice(0, 2_600).join('\n')}\n`);
    expect(await outcomes(first.id)).toEqual(['row,outcome,fields,error', '']);
    await run(first.id, 'mode=rows');
    rows[1] = 'each-1,Task 1,2';
    rows[2] = 'each-2,Another,3';
    rows[2_550] = 'each-2550,Task 2550,many';
    const { id } = await take('task', `_id,name,amount\n${rows.join('\n')}\n`);
    const tried = async () => {
      await ask('POST', `/imports/${id}/dry-run?mode=rows`);
      await rested(id);
      return await outcomes(id);
    };
    const told = await tried();
    expect(told).toHaveLength(3_002);
    expect([1, 2, 3, 2_551, 2_600, 2_601, 3_000].map((line) => told[line])).toEqual([
      '2,same,,',
      '3,update,amount,',
      '4,update,"name, amount",',
      expect.stringMatching(/^2552,error,,"amount: .*many.*"$/),
      '2601,same,,',
      '2602,create,,',
      '3001,create,,',
    ]);
    expect(await tried()).toEqual(told);
  });

  it('removes what a full list does not have, once a dry run has said how many', async () => {
    const first = await take('fee_head', 'name,order\nTuition,1\nBus,2\nLab,3\n');
    expect((await run(first.id)).counts).toMatchObject({ created: 3 });
    const { id } = await take('fee_head', 'name,order\nTuition,1\nLab,4\n');
    expect(await refusal('POST', `/imports/${id}/run?missing=remove`, 'admin')).toMatchObject({
      status: 409,
    });
    await ask('POST', `/imports/${id}/dry-run?missing=remove`);
    expect((await rested(id)).trial?.counts).toMatchObject({ updated: 1, same: 1, removed: 1 });
    const done = await run(id, 'mode=rows');
    expect(done).toMatchObject({ state: 'done', counts: { updated: 1, same: 1, removed: 1 } });
    expect((await records('fee_head')).map(({ name }) => name).sort()).toEqual(['Lab', 'Tuition']);
    for (const change of done.changeIds.toReversed()) {
      const query = `mutation { undoChange(requestId: "${change}") { broughtBack changed } }`;
      const answer = await gateway.fetch('/graphql', {
        method: 'POST',
        as: 'admin',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      expect(await answer.json()).not.toHaveProperty('errors');
    }
    expect((await records('fee_head')).map(({ name, order }) => `${name} ${order}`).sort()).toEqual([
      'Bus 2',
      'Lab 3',
      'Tuition 1',
    ]);
  });

  it('refuses a mapping with every fault in it', async () => {
    const { id } = await take('holiday', 'holiday,what\n2026-01-26,Republic Day\n');
    const response = await gateway.fetch(`/imports/${id}/mapping`, {
      method: 'PUT',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        columns: [
          { column: 'holliday', field: 'date' },
          { column: 'what', field: 'nam' },
          { column: 'holiday', field: 'date', part: { separator: '-', number: 1, of: 2 } },
          { column: 'holiday', field: null, part: { separator: '/', number: 1, of: 3 } },
        ],
      }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [
        { pointer: '/columns/0/column', detail: expect.stringContaining('Did you mean "holiday"?') },
        { pointer: '/columns/3/column', detail: expect.stringContaining('part 1 of the column "holiday"') },
        { pointer: '/columns/1/field', detail: expect.stringContaining('Did you mean "name"?') },
        { pointer: '/columns/2/field', detail: expect.stringContaining('is filled from "holliday" already') },
      ],
    });
    const outside = { column: 'what', field: 'name', part: { separator: '-', number: 3, of: 2 } };
    await expect(ask('PUT', `/imports/${id}/mapping`, { columns: [outside] })).rejects.toThrow(
      'a part has a number up to that of all parts',
    );
  });

  it('parts the cells of a column that names two fields, and tells which have no such parts', async () => {
    const header = STUDENTS.replace('class,section', 'Class/Sec');
    const row = (id: string, place: string) => student(id).replace('5,A', place);
    const sheet = `${[header, row('P-1', '10-A'), row('P-2', 'X - B'), row('P-3', '10C')].join('\n')}\n`;
    const taken = await take('registration', sheet);
    const { columns } = taken.mapping;
    expect(columns.filter(({ column }) => column === 'Class/Sec')).toEqual([
      { column: 'Class/Sec', field: 'class', part: { separator: '-', number: 1, of: 2 } },
      { column: 'Class/Sec', field: 'section', part: { separator: '-', number: 2, of: 2 } },
    ]);
    // The Roman number is of the class alone.
    const named = columns.map((one) => (one.field === 'class' ? { ...one, values: { X: '10' } } : one));
    await ask('PUT', `/imports/${taken.id}/mapping`, { columns: named });
    expect((await run(taken.id, 'mode=rows')).counts).toMatchObject({ created: 2, refused: 1 });
    const made = await records('registration', 'sequence=*P-');
    expect(made.map((one) => `${one.class}${one.section}`)).toEqual(['10A', '10B']);
    const errors = await gateway.fetch(`/imports/${taken.id}/errors`, { as: 'admin' });
    expect(await errors.json()).toMatchObject([
      {
        number: 4,
        faults: [{ column: 'Class/Sec', sent: '10C', expected: expect.stringContaining('2 parts') }],
      },
    ]);
  });

  it('parts classes from their sections where digits and letters meet, if no column has these', async () => {
    const header = STUDENTS.replace('class,section', 'Class');
    const row = (id: string, place: string) => student(id).replace('5,A', place);
    const places = ['10A', '9 B', '8-C', 'Nursery'];
    const sheet = [header, ...places.map((place, at) => row(`Q-${at}`, place)), ''].join('\n');
    const taken = await take('registration', sheet);
    expect(taken.mapping.columns.filter(({ column }) => column === 'Class')).toEqual([
      { column: 'Class', field: 'class', part: { separator: '', number: 1, of: 2 } },
      { column: 'Class', field: 'section', part: { separator: '', number: 2, of: 2 } },
    ]);
    expect((await run(taken.id, 'mode=rows')).counts).toMatchObject({ created: 3, refused: 1 });
    const made = await records('registration', 'sequence=*Q-');
    expect(made.map((one) => `${one.class} ${one.section}`)).toEqual(['10 A', '9 B', '8 C']);
    const errors = await gateway.fetch(`/imports/${taken.id}/errors`, { as: 'admin' });
    expect(await errors.json()).toMatchObject([
      { number: 5, faults: [{ column: 'Class', expected: expect.stringContaining('digits') }] },
    ]);
    const both = [STUDENTS, student('Q-9').replace('5,A', '10A,B'), ''].join('\n');
    const { mapping } = await take('registration', both);
    expect(mapping.columns.filter((one) => 'part' in one)).toEqual([]);
  });
});

describe('scripts', () => {
  it('run for an import only where that is asked for, and the answer says which', async () => {
    const code = `export default ({ record }) => {
      if (record.name === 'No') throw new Error('never no');
      return { ...record, amount: 5 };
    }`;
    const query = `mutation Save($code: String!) { saveScript(script: {name: "five", code: $code,
      before: [{collection: "task", operations: [CREATE]}], serviceRoles: ["admin"]}) { name } }`;
    await ask('POST', '/graphql', { query, variables: { code } });
    const quiet = await take('task', '_id,name\nq-1,Yes\nq-2,No\n');
    expect(await run(quiet.id, 'mode=rows')).toMatchObject({
      counts: { created: 2, refused: 0 },
      scripts: { before: [], after: [] },
    });
    const loud = await take('task', '_id,name\nl-1,Yes\nl-2,No\n');
    expect(await run(loud.id, 'mode=rows&triggers=before')).toMatchObject({
      counts: { created: 1, refused: 1 },
      scripts: { before: ['five'], after: [] },
    });
    expect(await records('task', 'name=Yes')).toMatchObject([{ _id: 'l-1', amount: 5 }, { _id: 'q-1' }]);
    await ask('POST', '/graphql', { query: 'mutation { removeScript(name: "five") }' });
  });

  it('tell a dry run what they would refuse and change, and leave nothing behind', async () => {
    const code = `export default async ({ record, operation }) => {
      await platform.db.create('task', { _id: 'trace-' + record._id, name: 'Trace' });
      if (record.name === 'No') throw new Error('never no');
      return operation === 'update' ? { ...record, classes: ['9'] } : record;
    }`;
    const query = `mutation Save($code: String!) { saveScript(script: {name: "picky", code: $code,
      before: [{collection: "holiday", operations: [CREATE, UPDATE]}], serviceRoles: ["admin"]}) { name } }`;
    await ask('POST', '/graphql', { query, variables: { code } });
    const there = await take('holiday', '_id,date,name\nd-1,2031-01-01,Old\nd-4,2031-01-04,Old\n');
    expect(await run(there.id, 'mode=rows')).toMatchObject({ counts: { created: 2 } });
    const file =
      '_id,date,name\nd-1,2031-01-01,New\nd-2,2031-01-02,Yes\nd-3,2031-01-03,No\nd-4,2031-01-04,No\n';
    const { id } = await take('holiday', file);
    const before = await records('holiday', 'name=Old');
    expect(before).toHaveLength(2);
    for (const [triggers, counts, changed, scripts] of [
      ['before', { created: 1, updated: 1, refused: 2 }, { name: 1, classes: 1 }, ['picky']],
      ['after', { created: 2, updated: 2, refused: 0 }, { name: 2 }, []],
    ] as const) {
      await ask('POST', `/imports/${id}/dry-run?mode=rows&triggers=${triggers}`);
      const tried = await rested(id);
      expect(tried).toMatchObject({
        state: 'tried',
        fault: null,
        trial: {
          counts,
          fields: Object.entries(changed).map(([field, count]) => ({ field, records: count })),
        },
        scripts: { before: scripts, after: [] },
      });
    }
    expect(await records('holiday', 'name=Old')).toEqual(before);
    expect(await records('task', 'name=Trace')).toEqual([]);
    await ask('POST', `/imports/${id}/run?mode=atomic&triggers=before`);
    expect(await rested(id)).toMatchObject({ state: 'failed', fault: { code: 'INVALID_VALUE' } });
    expect(await records('task', 'name=Trace')).toEqual([]);
    expect(await run(id, 'mode=rows&triggers=before')).toMatchObject({
      counts: { created: 1, updated: 1, refused: 2 },
    });
    expect(await records('task', 'name=Trace')).toMatchObject([{ _id: 'trace-d-1' }, { _id: 'trace-d-2' }]);
    await ask('POST', '/graphql', { query: 'mutation { removeScript(name: "picky") }' });
  });
});

describe('several imports at once', () => {
  it('are done, two at a time', async () => {
    const taken = await Promise.all(
      ['m', 'n', 'o', 'p'].map((letter) => {
        const lines = Array.from({ length: 300 }, (_, index) => `${letter}-${index},Task`);
        return take('task', `_id,name\n${lines.join('\n')}\n`);
      }),
    );
    await Promise.all(taken.map(({ id }) => ask('POST', `/imports/${id}/run?mode=rows`)));
    let most = 0;
    await eventually(async () => {
      const { rows } = await gateway.sql.query<{ running: number; left: number }>(
        `select count(*) filter (where state = 'running')::int as running, count(*)::int as left
         from imports where state in ('running', 'waiting')`,
      );
      most = Math.max(most, rows[0]?.running ?? 0);
      return rows[0]?.left === 0;
    }, 60_000);
    expect(most).toBeLessThanOrEqual(2);
    for (const { id } of taken) expect((await rested(id)).counts).toMatchObject({ created: 300 });
  });
});

describe('who imports', () => {
  it('needs a role for it, the rights to write there, and a credential', async () => {
    const body = 'name\nx\n';
    expect(await refusal('POST', '/imports?collection=holiday', undefined, body)).toMatchObject({
      status: 401,
    });
    expect(await refusal('POST', '/imports?collection=holiday', 'teacher', body)).toMatchObject({
      status: 403,
    });
    expect(await refusal('POST', '/imports?collection=pltf_user', 'clerk', body)).toMatchObject({
      status: 403,
    });
    expect(await refusal('POST', '/imports?collection=nowhere', 'admin', body)).toMatchObject({
      status: 404,
    });
    expect(await refusal('POST', '/imports', 'admin', body)).toMatchObject({ status: 400 });
    expect(await refusal('POST', '/imports?collection=holiday', 'admin')).toMatchObject({ status: 400 });
    expect(await refusal('POST', '/imports?collection=holiday&mode=some', 'admin', body)).toMatchObject({
      status: 400,
    });
  });

  it('is told by me', async () => {
    const mayImport = async (as: Role) => {
      const response = await gateway.fetch('/graphql', {
        method: 'POST',
        as,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ me { mayImport } }' }),
      });
      return ((await response.json()) as { data: { me: { mayImport: boolean } } }).data.me.mayImport;
    };
    expect([await mayImport('admin'), await mayImport('clerk'), await mayImport('teacher')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('sees its own imports, and an admin all; nobody those of another domain', async () => {
    const { id } = await ask(
      'POST',
      '/imports?collection=registration&name=c.csv',
      sheetOf(student('C-1')),
      'clerk',
    );
    expect(await rested(id, 'clerk')).toMatchObject({ state: 'ready', createdBy: 'usr-clerk' });
    expect((await gateway.fetch(`/imports/${id}`, { as: 'admin' })).status).toBe(200);
    expect(await refusal('GET', `/imports/${id}`, 'accountant')).toMatchObject({ status: 404 });
    for (const file of ['errors.csv', 'outcomes.csv']) {
      expect(await refusal('GET', `/imports/${id}/${file}`, 'accountant')).toMatchObject({ status: 404 });
    }
    await gateway.sql.query(`insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top')`);
    const other = await gateway.fetch(`/imports/${id}`, { as: 'admin', headers: { 'x-domain': 'branch' } });
    expect(other.status).toBe(404);
  });

  it('is stopped when a role was taken away meanwhile', async () => {
    const { id } = await ask(
      'POST',
      '/imports?collection=registration&name=d.csv',
      sheetOf(student('D-1')),
      'clerk',
    );
    await rested(id, 'clerk');
    await gateway.sql.query(
      `update records set data = jsonb_set(data, '{roles}', '["viewer"]') where id = 'usr-clerk'`,
    );
    try {
      // What the gateway has in mind of the caller lasts a moment; the job asks anew.
      await ask('POST', `/imports/${id}/run`, undefined, 'clerk');
      const failed = await rested(id);
      expect(failed).toMatchObject({ state: 'failed', fault: { code: 'FORBIDDEN' } });
      expect(await records('registration', 'sequence=D-1')).toEqual([]);
    } finally {
      await gateway.sql.query(
        `update records set data = jsonb_set(data, '{roles}', '["clerk"]') where id = 'usr-clerk'`,
      );
    }
  });
});

describe('an import that is undone', () => {
  const rows = 5_200;

  /** New tasks in three parts, of which the first changes one that was there. */
  async function imported(prefix: string): Promise<ImportAnswer> {
    await ask('POST', '/o/task', { _id: `${prefix}0`, name: 'Was there', amount: 7 });
    const lines = Array.from({ length: rows }, (_, index) => `${prefix}${index},Task ${index},${index}`);
    const { id } = await take('task', `_id,name,amount\n${lines.join('\n')}\n`);
    const done = await run(id, 'mode=rows');
    expect(done).toMatchObject({ state: 'done', counts: { created: rows - 1, updated: 1 } });
    expect(done.changeIds).toHaveLength(3);
    return done;
  }
  const left = async (prefix: string) => {
    const { rows: found } = await gateway.sql.query(
      `select data->>'name' as name, data->>'amount' as amount from records
       where collection = 'task' and id like $1 || '%' and deleted_at is null`,
      [prefix],
    );
    return found;
  };
  interface Preview {
    readonly removed: number;
    readonly changed: number;
    readonly conflictCount: number;
    readonly conflicts: readonly { readonly id: string }[];
  }
  const preview = async (id: string) => (await ask('GET', `/imports/${id}/undo`)) as unknown as Preview;

  it('leaves what was there as it was, whatever its size, and says before how much that is', async () => {
    const { id } = await imported('u-');
    expect(await preview(id)).toEqual({
      ...{ removed: rows - 1, changed: 1, broughtBack: 0, conflictCount: 0, conflicts: [] },
    });
    await ask('POST', `/imports/${id}/undo`);
    expect(await rested(id)).toMatchObject({ state: 'undone', changeIds: [], fault: null });
    expect(await left('u-')).toEqual([{ name: 'Was there', amount: '7' }]);
    const { rows: entries } = await gateway.sql.query(
      `select distinct request_id as request from audit_entries
       where record_id like 'u-%' and request_id like '%.undo.%' order by 1`,
    );
    expect(entries.map(({ request }) => request)).toEqual([1, 2, 3].map((part) => `${id}.undo.${part}`));
    expect(await refusal('POST', `/imports/${id}/undo`, 'admin')).toEqual({ status: 409 });
    expect(await refusal('POST', `/imports/${id}/run`, 'admin')).toEqual({ status: 409 });
  });

  it('is not undone where a record was changed later, which is named, until that is taken back', async () => {
    const { id } = await imported('v-');
    await ask('PATCH', '/o/recs/task/v-5199', { name: 'Mine' });
    expect(await preview(id)).toMatchObject({ conflictCount: 1, conflicts: [{ id: 'v-5199', version: 2 }] });
    await expect(ask('POST', `/imports/${id}/undo`)).rejects.toThrow(
      /the record \\"v-5199\\" of task was changed later: version 2/,
    );
    expect(await left('v-')).toHaveLength(rows);
    await ask('POST', '/o/recs/task/v-5199/restore', { version: 1 });
    expect(await preview(id)).toMatchObject({ conflictCount: 0, removed: rows - 1, changed: 1 });
    await ask('POST', `/imports/${id}/undo`);
    expect(await rested(id)).toMatchObject({ state: 'undone', fault: null });
    expect(await left('v-')).toEqual([{ name: 'Was there', amount: '7' }]);
  });

  it('is undone by its own, with the rights to remove what it made', async () => {
    const { id } = await ask('POST', '/imports?collection=task&name=a.csv', '_id,name\nw-1,One\n', 'clerk');
    await rested(id, 'clerk');
    await ask('POST', `/imports/${id}/run`, undefined, 'clerk');
    await rested(id, 'clerk');
    expect(await refusal('GET', `/imports/${id}/undo`, 'viewer')).toEqual({ status: 404 });
    expect(await refusal('POST', `/imports/${id}/undo`, 'viewer')).toEqual({ status: 404 });
    await ask('POST', `/imports/${id}/undo`, undefined, 'clerk');
    expect(await rested(id, 'clerk')).toMatchObject({ state: 'undone' });
    expect(await left('w-')).toEqual([]);
  });

  it('is stopped while it is undone, and gone on with', async () => {
    const { id } = await imported('x-');
    await ask('POST', `/imports/${id}/undo`);
    await ask('POST', `/imports/${id}/cancel`);
    const stopped = await rested(id);
    expect(['cancelled', 'undone']).toContain(stopped.state);
    const isStopped = stopped.state === 'cancelled';
    expect(await left('x-')).toHaveLength(Math.max(1, Math.min(rows, 2_500 * stopped.changeIds.length)));
    if (isStopped) await ask('POST', `/imports/${id}/undo`);
    expect(await rested(id)).toMatchObject({ state: 'undone', changeIds: [] });
    expect(await left('x-')).toHaveLength(1);
  });
});

describe('an import that does not come to its end', () => {
  it('leaves nothing of an upload that breaks off', async () => {
    const before = await gateway.sql.query('select count(*)::int as count from files');
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(
      'POST /imports?collection=holiday&name=x.csv HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n' +
        `Authorization: Bearer ${gateway.tokenOf('admin')}\r\nContent-Length: 1000000\r\n\r\nname,date\n`,
    );
    await eventually(async () => {
      const { rows } = await gateway.sql.query(`select 1 from files where state = 'uploading'`);
      return rows.length === 1;
    });
    socket.destroy();
    await eventually(async () => {
      const { rows } = await gateway.sql.query('select count(*)::int as count from files');
      return rows[0].count === before.rows[0].count;
    });
  });

  it('fails when its file was taken away', async () => {
    const { id, fileId } = await take('holiday', 'date,name\n2026-12-25,Christmas\n');
    await gateway.sql.query('delete from files where id = $1', [fileId]);
    expect(await run(id)).toMatchObject({ state: 'failed', fault: { code: 'GONE' } });
  });

  it('is cancelled in the middle: what is written stays, and is told', async () => {
    const rows = 30_000;
    const lines = Array.from({ length: rows }, (_, index) => `y-${index},Task ${index}`);
    const { id } = await take('task', `_id,name\n${lines.join('\n')}\n`);
    await ask('POST', `/imports/${id}/run?mode=rows`);
    await eventually(async () => (await ask('GET', `/imports/${id}`)).counts.created !== 0);
    await ask('POST', `/imports/${id}/cancel`);
    const stopped = await rested(id);
    const { rows: found } = await gateway.sql.query(
      `select count(*)::int as count from records where collection = 'task' and id like 'y-%'`,
    );
    expect(stopped.counts.created).toBe(found[0].count);
    expect(stopped.changeIds).toHaveLength(Math.ceil(found[0].count / 2_500));
    expect({ state: stopped.state, isWhole: found[0].count === rows }).toEqual({
      state: 'cancelled',
      isWhole: false,
    });
  });

  it('is ended by a gateway when it is cancelled and nobody works on it', async () => {
    const { id } = await take('holiday', 'date,name\n2026-12-27,Left alone\n');
    // As the command line leaves one on Ctrl-C: no job is there to continue it.
    await gateway.sql.query(`update imports set state = 'running' where id = $1`, [id]);
    await ask('POST', `/imports/${id}/cancel`);
    expect(await rested(id)).toMatchObject({ state: 'cancelled', counts: { created: 0 } });
    expect(await records('holiday', 'date=2026-12-27')).toEqual([]);
  });

  it('goes with its file when nobody has continued it for long, and stays before that', async () => {
    const left = await take('holiday', 'date,name\n2026-12-28,Left\n');
    const recent = await take('holiday', 'date,name\n2026-12-29,Recent\n');
    const stop = `update imports set state = 'running', updated_at = now() - $2::interval where id = $1`;
    await gateway.sql.query(stop, [left.id, '31 days']);
    await gateway.sql.query(stop, [recent.id, '29 days']);
    await gateway.sql.query(`select campus_jobs.add_job('imports.purge')`);
    // The import goes first, then its file.
    await eventually(async () => {
      const { rows } = await gateway.sql.query('select from files where id = $1', [left.fileId]);
      return rows.length === 0;
    });
    const kept = `select i.id from imports i join files f on f.id = i.file_id where i.id = any($1)`;
    const { rows } = await gateway.sql.query(kept, [[left.id, recent.id]]);
    expect(rows).toEqual([{ id: recent.id }]);
  });

  it('is cancelled', async () => {
    const { id } = await take('holiday', 'date,name\n2026-12-26,Boxing Day\n');
    expect(await ask('POST', `/imports/${id}/cancel`)).toMatchObject({ state: 'cancelled' });
    expect(await records('holiday', 'date=2026-12-26')).toEqual([]);
  });
});

describe('rows that are large', () => {
  it('are written a few at a time, however many a batch may have', async () => {
    const text = 'x'.repeat(1024 ** 2);
    const lines = Array.from({ length: 24 }, (_, index) =>
      JSON.stringify({ _id: `large-${index}`, name: 'Large', essay: text }),
    );
    const path = '/imports?collection=task&name=large.ndjson&by=_id';
    const { id } = await ask('POST', path, `${lines.join('\n')}\n`);
    await rested(id);
    const declared = ['_id', 'name'].map((name) => ({ column: name, field: name }));
    const mapping = { columns: [...declared, { column: 'essay', field: 'essay', undeclared: true }] };
    await ask('PUT', `/imports/${id}/mapping`, mapping);
    const done = await run(id, 'mode=rows');
    expect([done.state, done.counts]).toEqual(['done', expect.objectContaining({ created: 24, refused: 0 })]);
    // Each batch is a change of its own: of 4 MiB at most, and the row that goes beyond them.
    expect(done.changeIds.length).toBeGreaterThanOrEqual(6);
  });
});
