/**
 * Writes that wait for each other, and checks that another one could overtake: all of them at the same
 * moment.
 */
import { describe, expect, it } from '@jest/globals';
import { Domains } from '../../src/store/catalog/domains.js';
import { openDatabase } from '../../src/store/database/database.js';
import { createTestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { scopeOf } from '../store/people.js';
import { deriveRows } from './derive-rows.js';
import { useGateway } from './gateway.js';
import { type GraphqlAnswer, send } from './graphql.js';

const POOL_SIZE = 8;
const gateway = useGateway({ POOL_SIZE: `${POOL_SIZE}`, SMS_PER_HOUR: '10' });

const all = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

function errorsOf(answers: readonly GraphqlAnswer[]): readonly string[] {
  return answers.flatMap(({ errors }) => errors.map(({ message }) => message));
}

function due(student: string, month: string) {
  return {
    student: { value: student },
    ...{ class: '5', section: 'A', session: '2026-27', month, fee_head: 'Tuition', amount: 100 },
    due_date: `${month}-10`,
  };
}

async function insert(collection: string, id: string, data: object): Promise<void> {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data) values ('top', $1, $2, $3::jsonb)`,
    [collection, id, JSON.stringify(data)],
  );
}

/**
 * Connections of the gateway that the transaction of a request holds between its statements, or that wait
 * for a lock. On Citus, the gateway also moves the outbox in a transaction.
 */
async function countTransactions(): Promise<number> {
  const { rows } = await gateway.sql.query(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'campus-gateway'
        and (state like 'idle in transaction%' or wait_event_type = 'Lock')
        and query not like '%pg_try_advisory_xact_lock%' and query not like '%told_changes%'`,
  );
  return rows[0].count;
}

async function insertStudents(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await insert('registration', id, {
      name: id,
      class: '5',
      section: 'A',
      session: '2026-27',
      sequence: id,
      status: 'active',
    });
    await insert('fee_due', `due-${id}`, due(id, '2026-04'));
  }
  await deriveRows(gateway.sql);
}

describe('writes that wait for each other in a circle', () => {
  it('are all done when they are transactions of twelve callers in opposite orders', async () => {
    await insert('task', 'one', { name: 'One', amount: 0 });
    await insert('task', 'two', { name: 'Two', amount: 0 });
    const update = (id: string) =>
      `${id}: updateTasks(where: {id: {equals: "${id}"}}, increment: {amount: 1}) { count }`;
    const answers = await all(12, (index) => {
      const [first, second] = index % 2 === 0 ? ['one', 'two'] : ['two', 'one'];
      const query = `mutation @transaction { ${update(`${first}`)} ${update(`${second}`)} }`;
      return send(gateway, { as: 'admin', query });
    });
    expect(errorsOf(answers)).toEqual([]);
    const { rows } = await gateway.sql.query(
      `select id, data->'amount' as amount from records where id in ('one', 'two') order by id`,
    );
    expect(rows).toEqual([
      { id: 'one', amount: 12 },
      { id: 'two', amount: 12 },
    ]);
  });

  it('are all done when they are bulk creates of dues of the same students', async () => {
    const students = ['s-1', 's-2', 's-3', 's-4', 's-5', 's-6'];
    await insertStudents(students);
    const query =
      'mutation ($records: [JSON!]!) { createRecords(collection: "fee_due", data: $records) { id } }';
    const answers = await all(12, (index) => {
      const months = index % 3 === 0 ? ['2026-05', '2026-06'] : ['2026-06', '2026-05'];
      const records = students.flatMap((student) => months.map((month) => due(student, month)));
      const variables = { records: index % 2 === 0 ? records : records.reverse() };
      return send(gateway, { as: 'accountant', query, variables });
    });
    expect(errorsOf(answers)).toEqual([]);
  });

  it('are all done when they are single writes beside transactions', async () => {
    const query = `mutation @transaction {
      a: updateTask(id: "one", data: {name: "x"}) { id }
      b: updateTask(id: "two", data: {name: "y"}) { id }
    }`;
    const answers = await all(16, (index) =>
      index % 2 === 0
        ? send(gateway, { as: 'admin', query })
        : send(gateway, {
            as: 'admin',
            query: `mutation { updateTasks(where: {id: {in: ["two", "one"]}}, set: {name: "z"}) { count } }`,
          }),
    );
    expect(errorsOf(answers)).toEqual([]);
  });
});

describe('receipts of one series', () => {
  const query = `mutation ($student: String!) {
    recordReceipt(receipt: {studentId: $student, paymentType: CASH, amount: "100"}) { receiptNo }
  }`;

  it('of a hundred cashiers are written without a gap, and hold few connections while they wait', async () => {
    const students = Array.from({ length: 100 }, (_, index) => `p-${index}`);
    await insertStudents(students);
    let most = 0;
    const looking = setInterval(() => {
      void countTransactions().then((count) => {
        most = Math.max(most, count);
      });
    }, 20);
    const answers = await all(100, (index) =>
      send(gateway, { as: 'accountant', query, variables: { student: `p-${index}` } }),
    );
    clearInterval(looking);
    expect(errorsOf(answers)).toEqual([]);
    const numbers = answers.map(({ data }) => Number(data.recordReceipt.receiptNo.slice(2)));
    expect(numbers.sort((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(most).toBeLessThanOrEqual(4);
  });

  it('beyond those that may wait are refused at once, and take no number', async () => {
    // The first waits for this transaction, so that the others have to wait for it, however slow the machine
    // is.
    const other = await gateway.sql.connect();
    await other.query('begin');
    await other.query(`select from receipt_series where domain = 'top' for update`);
    let refused = 0;
    const sent = all(260, async () => {
      const answer = await send(gateway, { as: 'accountant', query, variables: { student: 'p-0' } });
      if (answer.errors.some(({ extensions }) => extensions.code === 'UNAVAILABLE')) refused += 1;
      return answer;
    });
    await eventually(() => refused > 0);
    await other.query('commit');
    other.release();
    const answers = await sent;
    const codes = new Set(answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions.code)));
    expect(codes).toEqual(new Set(['INVALID_VALUE', 'UNAVAILABLE']));
    const { rows } = await gateway.sql.query('select last_number::int as last from receipt_series');
    expect(rows).toEqual([{ last: 100 }]);
  });
});

describe('one write sent many times at once under one key', () => {
  it('is done once, and holds one connection while the others wait', async () => {
    let most = 0;
    const looking = setInterval(() => {
      void countTransactions().then((count) => {
        most = Math.max(most, count);
      });
    }, 5);
    const answers = await all(60, () =>
      gateway.fetch('/o/task', {
        method: 'POST',
        as: 'clerk',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'often' },
        body: '{"name":"often"}',
      }),
    );
    clearInterval(looking);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    expect(most).toBeLessThanOrEqual(1);
  });
});

describe('what is checked before it is stored', () => {
  it('makes one top domain, however many are first', async () => {
    const testDatabase = await createTestDatabase();
    const database = await openDatabase({ url: testDatabase.url, poolSize: 12, statementTimeoutMs: 20_000 });
    const gateways = await all(4, () => Domains.load(database));
    try {
      const made = await Promise.allSettled(
        gateways.flatMap((domains, index) => [
          domains.createTop({ id: `top-${index}`, name: 'Top' }),
          domains.create(scopeOf({ roles: ['admin'] }), { id: `first-${index}`, name: 'First' }),
        ]),
      );
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const { rows } = await database.pool.query(
        'select count(*)::int as tops from domains where parent_id is null',
      );
      expect(rows).toEqual([{ tops: 1 }]);
    } finally {
      for (const domains of gateways) await domains.close();
      await database.close();
      await testDatabase.drop();
    }
  });

  it('registers sixteen collections, more than there are connections', async () => {
    const query = 'mutation ($definition: JSON!) { registerCollection(definition: $definition) { name } }';
    const answers = await all(16, (index) => {
      const definition = { name: `club_${index}`, fields: [{ name: 'title', type: 'text' }] };
      return send(gateway, { as: 'admin', query, variables: { definition } });
    });
    expect(errorsOf(answers)).toEqual([]);
  });

  it('registers a collection once', async () => {
    const query = 'mutation ($definition: JSON!) { registerCollection(definition: $definition) { name } }';
    const definition = { name: 'house', fields: [{ name: 'title', type: 'text' }] };
    const answers = await all(6, () => send(gateway, { as: 'admin', query, variables: { definition } }));
    const codes = answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions.code));
    expect(codes).toEqual(Array(5).fill('CONFLICT'));
  });

  it('sends no more text messages an hour than a school may', async () => {
    const query = 'mutation ($to: String!) { sendSms(data: {to: [$to], text: "Namaste"}) { id } }';
    const answers = await all(16, (index) =>
      send(gateway, { as: 'clerk', query, variables: { to: `+9198765432${10 + index}` } }),
    );
    const codes = answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions.code));
    expect(codes).toEqual(Array(6).fill('TOO_MANY_REQUESTS'));
  });
});
