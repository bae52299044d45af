/** What a list by REST takes and says beyond oquery: `where` as JSON, and how many records match in all. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';

const gateway = useGateway();
const JSON_BODY = { 'content-type': 'application/json' };

beforeAll(async () => {
  const tasks = [
    { _id: 't1', name: 'Paint', amount: 100 },
    { _id: 't2', name: 'Mend', amount: 250.5 },
    { _id: 't3', name: 'Sweep' },
  ];
  const response = await gateway.fetch('/o/task', {
    method: 'POST',
    as: 'clerk',
    headers: JSON_BODY,
    body: JSON.stringify(tasks),
  });
  expect(response.status).toBe(201);
});

async function idsOf(response: Response): Promise<unknown> {
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly _id: string }[]).map(({ _id }) => _id);
}

function asked(where: unknown, more = ''): string {
  const text = typeof where === 'string' ? where : JSON.stringify(where);
  return `/o/recs/task?where=${encodeURIComponent(text)}${more}`;
}

describe('where', () => {
  it.each([
    [{}, '', ['t1', 't2', 't3']],
    ['', '', ['t1', 't2', 't3']],
    [{ amount: { isNull: true } }, '', ['t3']],
    [{ or: [{ name: { equals: 'Paint' } }, { amount: { equals: 250.5 } }] }, '', ['t1', 't2']],
    [{ not: { name: { equals: 'Paint' } } }, '&oquery=amount=>1', ['t2']],
    [{ amount: { isNull: false } }, '&sort=-amount&limit=1', ['t2']],
  ])('%j%s finds records as in GraphQL', async (where, more, ids) => {
    expect(await idsOf(await gateway.fetch(asked(where, more), { as: 'viewer' }))).toEqual(ids);
  });

  it('is in a body the object itself, or its text', async () => {
    const where = { or: [{ amount: { isNull: true } }, { amount: { lessThan: 200 } }] };
    for (const sent of [where, JSON.stringify(where)]) {
      const response = await gateway.fetch('/o/recs/task', {
        method: 'POST',
        as: 'viewer',
        headers: JSON_BODY,
        body: JSON.stringify({ where: sent, project: 'name' }),
      });
      expect(await idsOf(response)).toEqual(['t1', 't3']);
    }
  });

  it.each([
    ['{', 'MALFORMED_FILTER', 'The parameter where is "{"; expected a JSON object'],
    ['[]', 'MALFORMED_FILTER', 'The parameter where is "[]"; expected a JSON object'],
    ['null', 'MALFORMED_FILTER', 'The parameter where is "null"; expected a JSON object'],
    ['{"amont":{"isNull":true}}', 'MALFORMED_FILTER', 'Did you mean "amount"?'],
    ['{"amount":{"greaterThan":"x"}}', 'INVALID_VALUE', 'where/amount/greaterThan'],
  ])('%s is refused, and told how it would be right', async (where, code, words) => {
    const response = await gateway.fetch(asked(where), { as: 'viewer' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: expect.stringContaining(code),
      detail: expect.stringContaining(words),
      errors: [expect.objectContaining({ parameter: 'where' })],
    });
  });

  it('may ask for no field that its caller may not read', async () => {
    const where = encodeURIComponent('{"salary":{"greaterThan":1}}');
    const response = await gateway.fetch(`/o/recs/pltf_user?where=${where}`, { as: 'viewer' });
    expect(response.status).toBeGreaterThanOrEqual(400);
  });
});

describe('Prefer: count=exact', () => {
  const total = ({ headers }: Response) => [headers.get('x-total-count'), headers.get('preference-applied')];

  it.each([
    ['', 'application/json'],
    ['?limit=1', 'application/json'],
    ['?limit=1&skip=1', 'text/csv'],
    ['?stream=true', 'application/x-ndjson'],
  ])('tells how many match whatever the page: %s as %s', async (query, accept) => {
    const headers = { accept, prefer: 'Count = "exact"' };
    const response = await gateway.fetch(`/o/recs/task${query}`, { as: 'viewer', headers });
    expect(response.status).toBe(200);
    expect(total(response)).toEqual(['3', 'count=exact']);
  });

  it('counts what the filter finds, and goes with the end marker', async () => {
    const headers = { accept: 'application/x-ndjson', prefer: 'count=exact, end-marker' };
    const path = asked({ amount: { isNull: false } }, '&limit=1');
    const response = await gateway.fetch(path, { as: 'viewer', headers });
    expect(total(response)).toEqual(['2', 'count=exact, end-marker']);
    expect(await response.text()).toMatch(/\{"\$end":true\}\n$/);
  });

  it.each([{}, { prefer: 'count=planned' }, { prefer: 'end-marker' }])(
    'is not counted for %j',
    async (headers) => {
      const response = await gateway.fetch('/o/recs/task?limit=1', { as: 'viewer', headers });
      expect(total(response)).toEqual([null, null]);
    },
  );
});
