/** A range whose start is after its end is refused; its result would be empty, and look like an answer. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { send } from './graphql.js';

const gateway = useGateway();

describe('a range from behind its end', () => {
  it.each([
    [
      'auditTrail(from: "2026-11-05", until: "2026-11-01") { id }',
      'until is 2026-11-01, before from 2026-11-05',
    ],
    ['messages(from: "2026-11-05", until: "2026-11-01") { totalCount }', 'until is 2026-11-01'],
    ['tasks(where: {amount: {between: {from: "5", to: "1"}}}) { totalCount }', 'found "5 to 1"'],
    [
      'attendanceRecords(where: {created: {between: {from: "2026-11-05", to: "2026-11-01"}}}) { totalCount }',
      'where/created/between: expected `from` not after `to`',
    ],
    [
      'attendanceRecords(where: {created: {between: ' +
        '{from: "2026-11-05T10:00:00+05:30", to: "2026-11-05T04:29:59Z"}}}) { totalCount }',
      'expected `from` not after `to`',
    ],
    [
      'feeDues(where: {month: {between: {from: "2026-11", to: "2026-04"}}}) { totalCount }',
      'expected `from` not after `to`',
    ],
    ['feeDefaulters(startMonth: "2026-11", endMonth: "2026-04") { rowCount }', 'before startMonth 2026-11'],
  ])('is refused: %s', async (field, message) => {
    const { errors } = await send(gateway, { query: `{ range: ${field} }`, as: 'admin' });
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringContaining(message),
        extensions: expect.objectContaining({ code: 'INVALID_VALUE', status: 400 }),
      }),
    ]);
  });

  it.each([
    'auditTrail(from: "2026-11-05", until: "2026-11-05") { id }',
    'tasks(where: {amount: {between: {from: "5", to: "5.0"}}}) { totalCount }',
    'feeReceipts(where: {date: {between: {from: "2026-11-05", to: "2026-11-05T04:29:59Z"}}}) { totalCount }',
  ])('is answered if it may hold something: %s', async (field) => {
    expect((await send(gateway, { query: `{ range: ${field} }`, as: 'admin' })).errors).toEqual([]);
  });
});

describe('the mode of a structured filter', () => {
  it.each(['insensitive', 'INSENSITIVE'])('may be written %s in JSON', async (mode) => {
    const where = encodeURIComponent(JSON.stringify({ name: { startsWith: 'xy', mode } }));
    const response = await gateway.fetch(`/o/recs/task?where=${where}`, { as: 'admin' });
    expect(response.status).toBe(200);
    const query = `query($where: JSON) { records(collection: "task", where: $where) { totalCount } }`;
    const variables = { where: { name: { startsWith: 'xy', mode } } };
    expect((await send(gateway, { query, variables, as: 'admin' })).errors).toEqual([]);
  });

  it('is refused if it is another word', async () => {
    const where = encodeURIComponent(JSON.stringify({ name: { startsWith: 'xy', mode: 'Insensitive' } }));
    const response = await gateway.fetch(`/o/recs/task?where=${where}`, { as: 'admin' });
    expect(response.status).toBe(400);
  });
});
