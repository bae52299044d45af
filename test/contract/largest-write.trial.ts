/** The limits as they are by default fit each other: as many records as one write takes are in one body. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';

const gateway = useGateway();
const COUNT = 10_000;

async function post(path: string, body: unknown) {
  const response = await gateway.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    as: 'admin',
  });
  return { status: response.status, text: await response.text() };
}

/** As large as most records of a school are: a due has seven fields, two of them with members. */
function task(index: number) {
  return {
    name: `Task ${index} of those that are stored at once`,
    amount: index + 0.25,
    manager: { value: 'usr-clerk', label: 'The one who keeps the office' },
    created_on: '2026-07-01T03:05:00.000Z',
    place: { building: 'Main', floor: 2, room: `Room ${index % 40}` },
    tags: ['urgent', 'paint', 'before the inspection'],
    remark: 'x'.repeat(200),
  };
}

const storedCount = async () => {
  const { rows } = await gateway.sql.query(
    `select count(*)::int as count from records where collection = 'task' and data->>'name' like 'Task %'`,
  );
  return rows[0].count;
};

describe('with the limits as they are by default', () => {
  it('10,000 records are created by one request of REST', async () => {
    const { status, text } = await post(
      '/o/task',
      Array.from({ length: COUNT }, (_, index) => task(index)),
    );
    expect({ status, answers: JSON.parse(text).length }).toEqual({ status: 201, answers: COUNT });
    expect(await storedCount()).toBe(COUNT);
  });

  it('10,000 records are created by one request of GraphQL', async () => {
    const before = await storedCount();
    const records = Array.from({ length: COUNT }, (_, index) => task(index));
    const query =
      'mutation ($records: [JSON!]!) { createRecords(collection: "task", data: $records) { id } }';
    const { status, text } = await post('/graphql', { query, variables: { records } });
    expect({ status, count: JSON.parse(text).data?.createRecords?.length }).toEqual({
      status: 200,
      count: COUNT,
    });
    expect(await storedCount()).toBe(before + COUNT);
  });

  it('one record more is refused by the name of the limit', async () => {
    const { status, text } = await post('/o/task', Array(COUNT + 1).fill({ name: 'One more' }));
    expect(status).toBe(400);
    expect(JSON.parse(text).detail).toBe(
      'at most 10000 records are stored at once (MAX_RECORDS_PER_WRITE), not 10001',
    );
  });

  it('a larger body is refused by the limit and its setting', async () => {
    const { status, text } = await post('/o/task', [{ name: 'x'.repeat(8_388_608) }]);
    expect(status).toBe(413);
    expect(JSON.parse(text).detail).toContain('8388608 bytes, which is the limit here (BODY_LIMIT_BYTES)');
  });
});
