/** A student who comes back: whichever way the new first day is written, the former stay is kept. */
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/base/json/json.js';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';
import { importSteps } from './import-steps.js';

const gateway = useGateway();
const imports = importSteps(gateway);

const LEFT = {
  ...{ name: 'Asha', class: '5', section: 'A', session: '2026-27', admitted_on: '2024-04-01' },
  ...{ left_on: '2026-09-10', status: 'withdrawn' },
};
const FORMER = {
  ...{ session: '2026-27', class: '5', section: 'A', from: '2024-04-01', to: '2026-09-10' },
};
const BACK = { admitted_on: '2026-11-02', section: 'B' };

async function send(method: string, path: string, body?: object) {
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.fetch(path, {
    ...{ method, as: 'admin', headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse((await response.text()) || 'null') };
}

const read = async (id: string): Promise<JsonObject> =>
  (await send('GET', `/o/recs/registration/${id}`)).body;

async function admit(id: string, more: object = {}): Promise<void> {
  const created = await send('POST', '/o/registration', { _id: id, sequence: id, ...LEFT, ...more });
  expect(created.status).toBe(201);
}

beforeAll(async () => {
  await send('POST', '/o/class', {
    ...{ name: '5', category: 'Primary', sections: [{ name: 'A' }, { name: 'B' }] },
  });
  await send('POST', '/o/class', {
    ...{ name: '6', category: 'Primary', sections: [{ name: 'A' }, { name: 'B' }] },
  });
});

// All have the roll number 7, which one student of a section may have.
afterEach(async () => {
  await gateway.sql.query(`delete from records where collection = 'registration'`);
});

type Door = (id: string, back: Readonly<Record<string, string | null>>) => Promise<unknown>;

const DOORS: readonly (readonly [string, Door])[] = [
  ['PATCH', (id, back) => send('PATCH', `/o/recs/registration/${id}`, back)],
  [
    'PUT',
    (id, back) => {
      const { left_on: _, status: __, ...kept } = LEFT;
      return send('PUT', `/o/recs/registration/${id}`, { sequence: id, ...kept, ...back });
    },
  ],
  [
    'updateRecord',
    (id, data) =>
      ask(
        gateway,
        `mutation ($id: ID!, $data: JSON!) {
          updateRecord(collection: "registration", id: $id, data: $data) { id }
        }`,
        { as: 'admin', variables: { id, data } },
      ),
  ],
  [
    'updateRecords',
    (id, set) =>
      ask(
        gateway,
        `mutation ($set: JSON!) {
          updateRecords(collection: "registration", oquery: "sequence=${id}", set: $set) { count }
        }`,
        { as: 'admin', variables: { set } },
      ),
  ],
  [
    'upsertRecords',
    (id, back) =>
      ask(
        gateway,
        `mutation ($data: [JSON!]!) {
          upsertRecords(collection: "registration", by: "sequence", data: $data) { count }
        }`,
        { as: 'admin', variables: { data: [{ sequence: id, ...back }] } },
      ),
  ],
  [
    'an import',
    async (id, back) => {
      const csv = `sequence,${Object.keys(back).join(',')}\n${id},${Object.values(back).join(',')}\n`;
      const taken = await imports.take('registration', csv, '&by=sequence');
      expect(await imports.run(taken.id)).toMatchObject({ state: 'done', counts: { updated: 1 } });
    },
  ],
];

describe('a student who comes back', () => {
  it.each(DOORS)('keeps the former stay: %s', async (name, write) => {
    const id = `back-${name.replaceAll(' ', '-')}`;
    await admit(id);
    await write(id, BACK);
    const stored = await read(id);
    expect(stored).toMatchObject({ ...BACK, class: '5', status: 'active', earlier_stays: [FORMER] });
    expect(stored).not.toHaveProperty('left_on');
  });

  it.each(DOORS.filter(([name]) => name !== 'an import'))(
    'keeps it also where the write clears what the former stay left: %s',
    async (name, write) => {
      const id = `cleared-${name}`;
      await admit(id);
      await write(id, { ...BACK, left_on: null, status: 'active' });
      expect(await read(id)).toMatchObject({ status: 'active', earlier_stays: [FORMER] });
    },
  );

  it('may leave and come back again', async () => {
    await admit('twice');
    await send('PATCH', '/o/recs/registration/twice', BACK);
    await send('PATCH', '/o/recs/registration/twice', { left_on: '2026-11-10', status: 'transferred' });
    await send('PATCH', '/o/recs/registration/twice', { admitted_on: '2026-11-20' });
    const second = { ...FORMER, section: 'B', from: '2026-11-02', to: '2026-11-10' };
    expect(await read('twice')).toMatchObject({ earlier_stays: [FORMER, second], status: 'active' });
  });

  it('is as before after an undo, and back after the undo of it', async () => {
    await admit('undone');
    const before = await read('undone');
    const undo = (requestId: string) =>
      gateway.fetch('/graphql', {
        ...{ method: 'POST', as: 'admin' },
        headers: { 'content-type': 'application/json', 'x-request-id': `undo-${requestId}` },
        body: JSON.stringify({
          query: 'mutation ($id: String!) { undoChange(requestId: $id) { changed } }',
          variables: { id: requestId },
        }),
      });
    await gateway.fetch('/o/recs/registration/undone', {
      ...{ method: 'PATCH', as: 'admin', body: JSON.stringify(BACK) },
      headers: { 'content-type': 'application/json', 'x-request-id': 'readmits' },
    });
    const back = await read('undone');
    await undo('readmits');
    expect(await read('undone')).toEqual(before);
    await undo('undo-readmits');
    expect(await read('undone')).toEqual(back);
  });

  it('is refused as a new student, with what to do instead', async () => {
    await admit('again');
    const again = await send('POST', '/o/registration', { ...LEFT, sequence: 'again' });
    expect(again.status).toBe(409);
    expect(again.body.detail).toBe(
      'sequence "again" is taken: it is unique in registration. To readmit a person who left, set ' +
        'admitted_on of that record: the former stay is kept',
    );
  });

  it.each([
    ['a cleared left_on', { left_on: null }],
    ['an earlier admitted_on', { admitted_on: '2023-04-01' }],
    ['the last day as the first', { admitted_on: '2026-09-10' }],
  ])('is not one by %s, which corrects the record', async (_name, change) => {
    const id = `corrected-${Object.values(change)[0]}`;
    await admit(id);
    expect((await send('PATCH', `/o/recs/registration/${id}`, change)).status).toBe(200);
    expect(await read(id)).not.toHaveProperty('earlier_stays');
  });

  it('may have the list written by the caller, whose days are in order', async () => {
    await admit('written');
    const path = '/o/recs/registration/written';
    const written = await send('PATCH', path, { ...BACK, left_on: null, earlier_stays: [] });
    expect(written.body.earlier_stays).toEqual([]);
    const refused = await send('PATCH', path, { earlier_stays: [{ ...FORMER, from: '2026-10-01' }] });
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0].pointer).toBe('/earlier_stays/0/from');
  });
});

describe('a receipt', () => {
  it('is of the session of its date, and of the class of that day', async () => {
    await admit('pays', { left_on: null, status: 'active' });
    await send('PATCH', '/o/recs/registration/pays', {
      ...{ session: '2027-28', class: '6', earlier_stays: [{ ...FORMER, to: '2026-10-31' }] },
    });
    await send('POST', '/o/fee_due', {
      ...{ student: 'pays', class: '5', section: 'A', session: '2026-27', month: '2026-09' },
      ...{ fee_head: 'Tuition', amount: 1000, due_date: '2026-09-10' },
    });
    const paid = async (date: string) => {
      const receipt = { studentId: 'pays', amount: '10', paymentType: 'CASH', date };
      const made = await ask(
        gateway,
        'mutation ($receipt: RecordReceiptInput!) { recordReceipt(receipt: $receipt) { receiptNo } }',
        { as: 'admin', variables: { receipt } },
      );
      const { body } = await send(
        'GET',
        `/o/recs/fee_receipt?oquery=receipt_no=${made.recordReceipt.receiptNo}`,
      );
      return [body[0].session, body[0].class];
    };
    expect(await paid('2026-03-31T18:29:59.000Z')).toEqual(['2025-26', '5']);
    expect(await paid('2026-03-31T18:30:00.000Z')).toEqual(['2026-27', '5']);
    expect(await paid('2026-11-01T06:00:00.000Z')).toEqual(['2026-27', '6']);
  });
});
