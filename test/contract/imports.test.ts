/** Imports over HTTP: a file is taken, mapped, tried and run, and says what it did. */
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { useGateway } from './gateway.js';
import { type ImportAnswer, importSteps, STUDENT_COLUMNS, studentRow, studentSheet } from './import-steps.js';

const gateway = useGateway({ IMPORT_ROLES: 'admin,clerk' });
const { ask, rested, take, run, records, refusal } = importSteps(gateway);

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

  it('refuses Parquet, and says what to send', async () => {
    const exported = await gateway.fetch('/o/recs/holiday?format=parquet', { as: 'admin' });
    const sent = await gateway.fetch('/imports?collection=task', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/octet-stream' },
      body: await exported.arrayBuffer(),
    });
    expect(await rested(((await sent.json()) as ImportAnswer).id)).toMatchObject({
      state: 'failed',
      fault: {
        code: 'UNSUPPORTED_MEDIA_TYPE',
        detail: expect.stringContaining('convert it to CSV or NDJSON'),
      },
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
    const first = await take('registration', studentSheet(studentRow('A-1'), studentRow('A-2')));
    expect(first.by).toBe('sequence');
    expect((await run(first.id)).counts).toMatchObject({ rows: 2, created: 2 });
    const [one] = await records('registration', 'sequence=A-1');
    const [two] = await records('registration', 'sequence=A-2');
    const again = await take(
      'registration',
      studentSheet(studentRow('A-1'), studentRow('A-2', { class: '6' }), studentRow('A-3')),
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
      studentSheet(
        studentRow('T-1', { gender: 'x' }),
        studentRow('T-1', { name: 'After a wrong one' }),
        studentRow('T-2', { dob: '31.06.2015' }),
        studentRow('T-2', { name: 'After a day that is none' }),
        studentRow('T-3'),
        studentRow('T-3', { dob: '31.06.2015' }),
        studentRow('T-4'),
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
    const faulty = studentSheet(
      studentRow('B-1'),
      studentRow('B-2', { gender: 'x' }),
      studentRow('B-3', { dob: '31.06.2015' }),
      studentRow('B-1', { name: 'Twice' }),
      studentRow(''),
      studentRow('B-6', { name: '=cmd()' }),
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
      { number: 6, faults: [{ detail: 'the row has no sequence to identify its record' }] },
    ]);
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ rows: 6, created: 2, refused: 4 });
    const errors = await (await gateway.fetch(`/imports/${id}/errors.csv`, { as: 'admin' })).text();
    expect(errors.split('\r\n')[0]).toBe(`${STUDENT_COLUMNS},error`);
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
    expect(header).toBe('other fields,error');
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
      // Admission numbers differ in more than case and blanks.
      'a-1\u00a0,2026-07-01T03:30:00Z,P',
      'A-3,2026-07-01T03:30:00Z,A',
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
        'A-3,yesterday,P',
        // Without a day it would be a mark of today.
        'A-3,,P',
        'A-3,2026-07-02T05:00:00Z,P',
        '',
      ].join('\n'),
      '&mapping=marks&by=student_day',
    );
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ rows: 5, created: 1, refused: 4 });
    expect(await (await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' })).json()).toMatchObject([
      { number: 2, faults: [{ column: 'Status' }] },
      { number: 3, faults: [{ detail: 'row 2 of the file has the same Adm No and Date' }] },
      { number: 4, faults: [{ column: 'Date' }] },
      {
        number: 5,
        faults: [{ column: 'Date', expected: 'a value (the time of the import would take its place)' }],
      },
    ]);
  });

  it('tells what would become of each row, as the last dry run found', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => `each-${index},Task ${index},1`);
    const outcomes = async (id: string) => {
      const answer = await gateway.fetch(`/imports/${id}/outcomes.csv`, { as: 'admin' });
      return (await answer.text()).split('\r\n');
    };
    const first = await take('task', `_id,name,amount\n${rows.slice(0, 2_600).join('\n')}\n`);
    expect(await outcomes(first.id)).toEqual(['row,outcome,fields,error,changes', '']);
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
      '2,same,,,',
      '3,update,amount,,amount: 1 → 2',
      '4,update,"name, amount",,"name: ""Task 2"" → ""Another""; amount: 1 → 3"',
      expect.stringMatching(/^2552,error,,"amount: .*many.*",$/),
      '2601,same,,,',
      '2602,create,,,',
      '3001,create,,,',
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
    const header = STUDENT_COLUMNS.replace('class,section', 'Class/Sec');
    const row = (id: string, place: string) => studentRow(id).replace('5,A', place);
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
    const header = STUDENT_COLUMNS.replace('class,section', 'Class');
    const row = (id: string, place: string) => studentRow(id).replace('5,A', place);
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
    const both = [STUDENT_COLUMNS, studentRow('Q-9').replace('5,A', '10A,B'), ''].join('\n');
    const { mapping } = await take('registration', both);
    expect(mapping.columns.filter((one) => 'part' in one)).toEqual([]);
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
