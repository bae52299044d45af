/** The bounds that declarations set hold on every door; what was stored before them may stay. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, send } from './graphql.js';
import { importSteps } from './import-steps.js';

const gateway = useGateway();

const DUE = {
  student: { value: 's-1', label: 'Asha' },
  ...{ class: '5', section: 'A', session: '2026-27', month: '2026-04', fee_head: 'Tuition' },
  ...{ amount: 1000, due_date: '2026-04-10' },
};
const STUDENT = {
  ...{ sequence: 'N-1', name: 'Asha', class: '5', section: 'A', session: '2026-27' },
  ...{ admitted_on: '2026-04-01', status: 'active' },
};

async function insert(collection: string, id: string, data: object): Promise<void> {
  await gateway.sql.query(`insert into records (domain, collection, id, data) values ('top', $1, $2, $3)`, [
    collection,
    id,
    JSON.stringify(data),
  ]);
}

async function stored(collection: string, id: string): Promise<Record<string, unknown>> {
  const { rows } = await gateway.sql.query('select data from records where collection = $1 and id = $2', [
    collection,
    id,
  ]);
  return rows[0]?.data;
}

async function post(collection: string, body: unknown, method = 'POST'): Promise<number> {
  const response = await gateway.fetch(`/o/${collection}`, {
    ...{ method, as: 'admin', body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json' },
  });
  await response.body?.cancel();
  return response.status;
}

async function refused(query: string): Promise<string> {
  const { errors } = await send(gateway, { as: 'admin', query });
  return errors.map(({ extensions }) => extensions.code).join();
}

beforeEach(async () => {
  await gateway.sql.query(
    `delete from records
     where collection in 
        ('fee_receipt', 'fee_due', 'fee_concession', 'registration', 'class', 'leave_request')`,
  );
  await insert('registration', 's-1', STUDENT);
});

describe('a negative amount', () => {
  beforeEach(async () => {
    await insert('fee_due', 'd-1', DUE);
  });

  it('is refused by REST, alone, in a list, as a change and as a replacement', async () => {
    const negative = { ...DUE, month: '2026-05', amount: -5 };
    expect(await post('fee_due', negative)).toBe(400);
    expect(await post('fee_due', [negative])).toBe(400);
    expect(await post('recs/fee_due/d-1', { amount: -5 }, 'PATCH')).toBe(400);
    expect(await post('recs/fee_due/d-1', { ...DUE, amount: -5 }, 'PUT')).toBe(400);
  });

  it.each([
    'createFeeDue(data: {student: {id: "s-1"}, class: "5", section: "A", session: "2026-27", ' +
      'month: "2026-05", feeHead: "Tuition", amount: "-5", dueDate: "2026-05-10"}) { id }',
    'updateFeeDue(id: "d-1", data: {amount: "-5"}) { id }',
    'updateFeeDues(where: {id: {equals: "d-1"}}, set: {amount: "-5"}) { count }',
    'updateFeeDues(where: {id: {equals: "d-1"}}, increment: {amount: "-1000.01"}) { count }',
    'updateFeeDues(where: {id: {equals: "d-1"}}, multiply: {amount: "-1"}) { count }',
    'updateFeeDues(where: {id: {equals: "d-1"}}, min: {amount: "-1"}) { count }',
    'updateFeeDues(where: {id: {equals: "d-1"}}, increment: {amount: "0.001"}) { count }',
    'upsertRecords(collection: "fee_due", data: [{_id: "d-1", amount: -5}]) { count }',
    'updateRecord(collection: "fee_due", id: "d-1", data: {amount: -5}) { id }',
    'updateRecords(collection: "fee_due", where: {_id: {equals: "d-1"}}, set: {amount: -5}) { count }',
  ])('is refused by GraphQL: %s', async (field) => {
    const { errors } = await send(gateway, { as: 'admin', query: `mutation { ${field} }` });
    expect(errors.map(({ message, extensions }) => [extensions.code, message])).toEqual([
      ['INVALID_VALUE', expect.stringContaining('at least 0, with at most 2 decimals')],
    ]);
    expect(await stored('fee_due', 'd-1')).toEqual(DUE);
  });

  it('is refused in a file, row by row', async () => {
    const { take, run } = importSteps(gateway);
    const head = 'student,class,section,session,month,fee_head,amount,due_date';
    const row = (month: string, amount: string) => `s-1,5,A,2026-27,${month},Tuition,${amount},${month}-10`;
    const csv = [head, row('2026-05', '-5'), row('2026-06', '5.50')].join('\n');
    const { id } = await take('fee_due', csv);
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ created: 1, refused: 1 });
  });
});

describe('a product of money', () => {
  it('is rounded to the paisa, half away from 0', async () => {
    await insert('fee_due', 'd-1', { ...DUE, amount: 4180.25 });
    await insert('fee_due', 'd-2', { ...DUE, month: '2026-05', amount: 0.1 });
    await ask(gateway, 'mutation { updateFeeDues(allowAll: true, multiply: {amount: "1.05"}) { count } }');
    expect((await stored('fee_due', 'd-1')).amount).toBe(4389.26);
    expect((await stored('fee_due', 'd-2')).amount).toBe(0.11);
  });
});

describe('what was stored before a rule', () => {
  it('blocks no change of another field', async () => {
    const old = { ...STUDENT, guardian_phone: '98765', roll_no: -5, email: 'foo@' };
    await insert('registration', 's-2', { ...old, sequence: 'N-2' });
    expect(await post('recs/registration/s-2', { name: 'Meera' }, 'PATCH')).toBe(200);
    expect(await post('recs/registration/s-2', { ...old, sequence: 'N-2', name: 'Mira' }, 'PUT')).toBe(200);
    await ask(gateway, 'mutation { updateRegistration(id: "s-2", data: {section: "B"}) { id } }');
    expect(await stored('registration', 's-2')).toMatchObject({ name: 'Mira', section: 'B', roll_no: -5 });
    expect(await post('recs/registration/s-2', { guardian_phone: '98766' }, 'PATCH')).toBe(400);
    expect(await post('recs/registration/s-2', { guardian_phone: '98765 43210' }, 'PATCH')).toBe(200);
    expect(await stored('registration', 's-2')).toMatchObject({ guardian_phone: '+919876543210' });
  });

  it('may stay in other elements of a list', async () => {
    await insert('class', 'c-5', {
      name: '5',
      sections: [
        { name: 'A', capacity: -5 },
        { name: 'B', capacity: 40 },
      ],
    });
    const change = (sections: object[]) => post('recs/class/c-5', { sections }, 'PATCH');
    expect(
      await change([
        { name: 'A', capacity: -5 },
        { name: 'B', capacity: 41 },
      ]),
    ).toBe(200);
    expect(
      await change([
        { name: 'A', capacity: -6 },
        { name: 'B', capacity: 41 },
      ]),
    ).toBe(400);
  });

  it('is not held against a check of other fields', async () => {
    const concession = {
      ...{ name: { value: 's-1', label: 'Asha' }, kind: 'percent', value: 250, session: '2026-27' },
      ...{ from_month: '2026-04', to_month: '2027-03' },
    };
    await insert('fee_concession', 'k-1', concession);
    expect(await post('recs/fee_concession/k-1', { reason: 'sibling' }, 'PATCH')).toBe(200);
    expect(await post('recs/fee_concession/k-1', { value: 240 }, 'PATCH')).toBe(400);
    expect(await post('recs/fee_concession/k-1', { kind: 'amount' }, 'PATCH')).toBe(200);
    expect(await post('recs/fee_concession/k-1', { kind: 'percent' }, 'PATCH')).toBe(400);
    expect(await post('recs/fee_concession/k-1', { kind: 'percent', value: 100 }, 'PATCH')).toBe(200);
    expect(await post('fee_concession', concession)).toBe(400);
  });
});

describe('what may exist once', () => {
  it('is a demand of a student, session, month and head, unless it is cancelled', async () => {
    expect(await post('fee_due', { ...DUE, _id: 'd-1' })).toBe(201);
    expect(await post('fee_due', DUE)).toBe(409);
    expect(await post('fee_due', { ...DUE, fee_head: 'Bus' })).toBe(201);
    expect(await post('recs/fee_due/d-1', { cancelled_on: '2026-04-05' }, 'PATCH')).toBe(200);
    expect(await post('fee_due', DUE)).toBe(201);
    expect(await post('recs/fee_due/d-1', { cancelled_on: null }, 'PATCH')).toBe(409);
  });

  it('is a roll number of a section and session, among those on the roll', async () => {
    const next = (sequence: string, more: object = {}) => ({ ...STUDENT, sequence, roll_no: 7, ...more });
    expect(await post('registration', next('N-2', { _id: 's-2' }))).toBe(201);
    expect(await post('registration', next('N-3'))).toBe(409);
    expect(await post('registration', next('N-3', { section: 'B' }))).toBe(201);
    expect(await post('recs/registration/s-2', { status: 'withdrawn' }, 'PATCH')).toBe(200);
    expect(await post('registration', next('N-4'))).toBe(201);
    expect(await refused('mutation { updateRegistration(id: "s-2", data: {status: ACTIVE}) { id } }')).toBe(
      'CONFLICT',
    );
  });

  it('is told row by row of a file', async () => {
    await insert('fee_due', 'd-0', { ...DUE, month: '2026-03' });
    expect(await post('fee_due', { ...DUE, _id: 'd-1' })).toBe(201);
    const { take, run } = importSteps(gateway);
    const head = '_id,student,class,section,session,month,fee_head,amount,due_date';
    const row = (id: string, month: string) => `${id},s-1,5,A,2026-27,${month},Tuition,5,${month}-10`;
    const rows = [row('d-1', '2026-04'), row('d-2', '2026-04'), row('d-3', '2026-05'), row('d-4', '2026-05')];
    const { id } = await take('fee_due', [head, ...rows].join('\n'), '&by=_id');
    expect(await run(id, 'mode=rows')).toMatchObject({
      fault: null,
      counts: { created: 1, updated: 1, refused: 2 },
    });
  });

  it('is a leave request, unless it is rejected', async () => {
    const leave = { name: 's-1', kind: 'student', from: '2026-07-02', to: '2026-07-04' };
    expect(await post('leave_request', { ...leave, _id: 'l-1' })).toBe(201);
    expect(await post('leave_request', leave)).toBe(409);
    expect(await post('recs/leave_request/l-1', { status: 'rejected' }, 'PATCH')).toBe(200);
    expect(await post('leave_request', leave)).toBe(201);
  });
});

describe('a leave request', () => {
  it('is of a student or of a member of staff, as its kind says', async () => {
    const days = { from: '2026-08-03', to: '2026-08-04' };
    const ofStaff = { ...days, name: 'usr-clerk', kind: 'staff' };
    expect(await post('leave_request', { ...ofStaff, kind: 'student' })).toBe(400);
    expect(await post('leave_request', { ...ofStaff, name: 's-1' })).toBe(400);
    expect(await post('leave_request', { ...ofStaff, _id: 'k-1' })).toBe(201);
    for (const change of [{ kind: 'student' }, { name: 's-1' }])
      expect(await post('recs/leave_request/k-1', change, 'PATCH')).toBe(400);
    expect(await post('recs/leave_request/k-1', { kind: 'student', name: 's-1' }, 'PATCH')).toBe(200);
    const { take, run } = importSteps(gateway);
    const rows = ['_id,name,kind,from,to', 'k-2,usr-clerk,student,2026-08-05,2026-08-05'].join('\n');
    const { id } = await take('leave_request', rows, '&by=_id');
    expect(await run(id, 'mode=rows')).toMatchObject({ counts: { created: 0, refused: 1 } });
    const data = '[{_id: "k-1", kind: "staff"}]';
    const upsert = `upsertRecords(collection: "leave_request", data: ${data}) { count }`;
    await expect(ask(gateway, `mutation { ${upsert} }`)).rejects.toThrow(
      '/name: the _id of a record of pltf_user is expected',
    );
    // What was stored before the rule does not block other changes.
    await insert('leave_request', 'k-3', { ...ofStaff, name: { value: 's-1' }, from: '2026-08-01' });
    expect(await post('recs/leave_request/k-3', { status: 'approved' }, 'PATCH')).toBe(200);
  });
});

describe('a telephone number', () => {
  it('is found however it is written', async () => {
    await insert('registration', 's-2', { ...STUDENT, sequence: 'N-2', guardian_phone: '+919876543210' });
    const count = async (number: string) => {
      const query =
        'query($n: String!) { registrationsAggregate(where: {guardianPhone: {equals: $n}}) { count } }';
      return (await ask(gateway, query, { variables: { n: number } })).registrationsAggregate[0].count;
    };
    for (const written of ['98765 43210', '+91 98765-43210', '09876543210'])
      expect(await count(written)).toBe(1);
    expect(await count('98765 43211')).toBe(0);
  });
});

describe('the descriptions of the doors', () => {
  it('print the bounds', async () => {
    const response = await gateway.fetch('/openapi.json', { as: 'admin' });
    const { components } = (await response.json()) as {
      components: { schemas: Record<string, { readonly properties: Record<string, unknown> }> };
    };
    expect(components.schemas.NewFeeDueRecord?.properties.amount).toMatchObject({
      minimum: 0,
      multipleOf: 0.01,
    });
    const query = '{ __type(name: "FeeDue") { fields { name description } } }';
    const { __type: type } = await ask(gateway, query);
    const amount = type.fields.find(({ name }: { name: string }) => name === 'amount');
    expect(amount.description).toContain('Allowed: at least 0, with at most 2 decimals.');
  });
});

describe('closed books', () => {
  const setProperty = (value: string) =>
    ask(
      gateway,
      'mutation($v: JSON!) { setDomainProperty(name: "books_closed_until", value: $v) { name } }',
      {
        variables: { v: value },
      },
    );
  const remove = 'mutation { removeDomainProperty(name: "books_closed_until") { name } }';
  const open = async () => void (await send(gateway, { as: 'admin', query: remove }));
  const pay = (date: string) =>
    send(gateway, {
      as: 'admin',
      query: `mutation {
        recordReceipt(receipt: {studentId: "s-1", paymentType: CASH, amount: "1", date: "${date}"}) {
          receiptNo
        }
      }`,
    });

  beforeEach(async () => {
    await insert('fee_due', 'd-1', DUE);
    await insert('fee_due', 'd-2', { ...DUE, month: '2026-05', due_date: '2026-05-10' });
    const { errors, data } = await pay('2026-04-20T06:00:00Z');
    expect(errors).toEqual([]);
    receiptNo = data.recordReceipt.receiptNo;
    await setProperty('2026-04-30');
  });
  let receiptNo = '';
  afterEach(open);

  it('take no receipt, and let none be rolled back', async () => {
    const late = await pay('2026-04-30T18:29:59Z');
    expect(late.errors.map(({ message }) => message)).toEqual([
      'date is of 2026-04-30, and the books are closed until 2026-04-30 (property books_closed_until); ' +
        'expected a day after that.',
    ]);
    expect((await pay('2026-04-30T18:30:00Z')).errors).toEqual([]);
    const why = `receiptNo: "${receiptNo}", reason: "x", type: BOUNCE`;
    const rollBack = `mutation { rollBackReceipt(rollback: {${why}}) { status } }`;
    expect(await refused(rollBack)).toBe('INVALID_VALUE');
    await open();
    expect(await refused(rollBack)).toBe('');
  });

  it('keep their dues, on every door', async () => {
    expect(await post('fee_due', { ...DUE, fee_head: 'Bus' })).toBe(403);
    expect(await post('recs/fee_due/d-1', { amount: 1 }, 'PATCH')).toBe(403);
    expect(await post('recs/fee_due/d-2', { due_date: '2026-04-30' }, 'PATCH')).toBe(403);
    expect(await post('recs/fee_due/d-2', { amount: 1 }, 'PATCH')).toBe(200);
    expect((await gateway.fetch('/o/recs/fee_due/d-1', { method: 'DELETE', as: 'admin' })).status).toBe(403);
    expect(await refused('mutation { deleteFeeDue(id: "d-1") { id } }')).toBe('FORBIDDEN');
    await ask(gateway, 'mutation { updateFeeDues(allowAll: true, set: {amount: "5"}) { count } }');
    expect([(await stored('fee_due', 'd-1')).amount, (await stored('fee_due', 'd-2')).amount]).toEqual([
      1000, 5,
    ]);
    await open();
    expect(await post('recs/fee_due/d-1', { amount: 1 }, 'PATCH')).toBe(200);
  });
});

it('refuses an admission before the birth, whichever is changed', async () => {
  expect(await post('registration', { ...STUDENT, sequence: 'N-2', dob: '2026-04-02' })).toBe(400);
  expect(await post('recs/registration/s-1', { dob: '2016-04-01' }, 'PATCH')).toBe(200);
  expect(await post('recs/registration/s-1', { admitted_on: '2016-03-31' }, 'PATCH')).toBe(400);
});
