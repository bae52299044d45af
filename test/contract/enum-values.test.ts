/**
 * A value that a field can never have is refused with the values there are, on every door; it never finds
 * nothing in silence.
 */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway();
const STATUSES = 'one of present, absent, late, half_day, leave';

const REFUSED: readonly [path: string, parameter: string, sent: string, hint?: string][] = [
  ['/o/recs/attendance?oquery=status=presnt', 'status', 'presnt', 'Did you mean "present"?'],
  ['/o/recs/attendance?oquery=class=5,status=today', 'status', 'today'],
  ['/o/recs/attendance?ci=true&oquery=status=PRESNT', 'status', 'PRESNT', 'Did you mean "present"?'],
  ['/o/recs/result?stream=true&oquery=session=2026-27,term=third', 'term', 'third'],
  ['/o/recs/result?oquery=subjects.components.state=score', 'subjects.components.state', 'score'],
  ['/o/recs/fee_receipt?oquery=payment_type=gold', 'payment_type', 'gold'],
];

const MONTH = 'a month YYYY-MM';
const SESSION = 'a session YYYY-YY, e.g. 2026-27';
const NOT_OF_FORMAT: readonly [collection: string, oquery: string, parameter: string, expected: string][] = [
  ['registration', 'session=2026', 'session', SESSION],
  ['registration', 'session=2026-2027', 'session', SESSION],
  ['registration', 'session=2026-28', 'session', SESSION],
  ['fee_due', 'month=2026-13', 'month', MONTH],
  ['fee_due', 'month=2026-4', 'month', MONTH],
  ['fee_due', 'class=5,month=today', 'month', MONTH],
  ['fee_due', 'month=on2026-04-01', 'month', MONTH],
  ['fee_receipt', 'lines.month=April', 'lines.month', MONTH],
];

describe('a value that is not of the format of its field is refused', () => {
  for (const [collection, oquery, parameter, expected] of NOT_OF_FORMAT) {
    it(`by REST: ${collection} ${oquery}`, async () => {
      const response = await gateway.fetch(`/o/recs/${collection}?oquery=${oquery}`, { as: 'admin' });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { type: 'urn:campus:error:INVALID_VALUE', errors: [{ parameter, expected }] },
      ]);
    });
  }

  it('by a where, in a read and in a write', async () => {
    for (const where of [
      '{month: {equals: "April"}}',
      '{month: {in: ["2026-04", "2026-4"]}}',
      '{session: {notEquals: "2026"}}',
      '{student: {record: {session: {equals: "2026"}}}}',
    ]) {
      const lists = [
        `{ records(collection: "fee_due", where: ${where}) { nodes { id } } }`,
        `mutation { deleteRecords(collection: "fee_due", where: ${where}) { count } }`,
      ];
      for (const query of lists) {
        const { errors } = await send(gateway, { as: 'admin', query });
        expect(errors).toMatchObject([{ extensions: { code: 'INVALID_VALUE', status: 400 } }]);
      }
    }
  });

  it.each(['x', '2026', 'Today', '%23in2026-13', 'on2026-02-30', '>5'])(
    'for the stamp that a record has though nothing declares it: created_on=%s',
    async (value) => {
      const response = await gateway.fetch(`/o/recs/registration?oquery=created_on=${value}`, {
        as: 'admin',
      });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { errors: [{ parameter: 'created_on', expected: expect.stringContaining('a month (=#in2026-04)') }] },
      ]);
    },
  );

  it('and what is of it is answered', async () => {
    for (const [collection, oquery] of [
      ['fee_due', 'month=%23in2026-04'],
      ['fee_due', 'month=2026-04,session=2026-27'],
      ['fee_due', 'month==2026'],
      ['registration', 'created_on=2026-04-01'],
      ['registration', 'created_on=2026-04-01T00:00:00Z'],
      ['registration', 'created_on=%23in2026-04'],
      ['registration', 'created_on=yesterday'],
      ['registration', 'created_on=>2026-04-01'],
    ] as const) {
      const response = await gateway.fetch(`/o/recs/${collection}?oquery=${oquery}&limit=1`, { as: 'admin' });
      expect([oquery, response.status]).toEqual([oquery, 200]);
    }
  });
});

describe('the id and the label of a reference', () => {
  it.each(['student.value=>2026-04-01', 'student.label=<2026-04-01', 'student.value=>5'])(
    'have no greater and less: %s',
    async (oquery) => {
      const response = await gateway.fetch(`/o/recs/fee_due?oquery=${oquery}`, { as: 'admin' });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { type: 'urn:campus:error:MALFORMED_FILTER' },
      ]);
    },
  );
});

describe('a value that an enum does not list is refused', () => {
  for (const [path, parameter, sent, hint] of REFUSED) {
    it(`by REST: ${path}`, async () => {
      const response = await gateway.fetch(path, { as: 'admin' });
      const body = (await response.json()) as { detail: string };
      expect([response.status, body]).toMatchObject([
        400,
        {
          type: 'urn:campus:error:INVALID_VALUE',
          errors: [{ parameter, sent, expected: expect.stringMatching(/^one of /) }],
        },
      ]);
      expect(body.detail).toContain(hint ?? '');
    });
  }

  it('by REST in a body', async () => {
    const response = await gateway.fetch('/o/recs/attendance', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ oquery: 'status=presnt' }),
      as: 'admin',
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { errors: [{ expected: STATUSES }] },
    ]);
  });

  for (const where of [
    '{status: {equals: "presnt"}}',
    '{status: {notEquals: "presnt"}}',
    '{status: {in: ["present", "presnt"]}}',
    '{status: {notIn: ["presnt"]}}',
    '{status: {equals: "PRESNT", mode: "insensitive"}}',
    '{not: {or: [{status: {equals: "presnt"}}]}}',
  ]) {
    it(`by a where: ${where}`, async () => {
      const lists = [
        `{ records(collection: "attendance", where: ${where}) { nodes { id } } }`,
        `mutation { deleteRecords(collection: "attendance", where: ${where}) { count } }`,
      ];
      for (const query of lists) {
        const { errors } = await send(gateway, { query, as: 'admin' });
        expect(errors.map((error) => [error.extensions.code, error.message])).toEqual([
          ['INVALID_VALUE', expect.stringContaining(STATUSES)],
        ]);
      }
    });
  }

  it('of another record', async () => {
    for (const query of [
      '{ records(collection: "attendance", where: {student: {record: {status: {equals: "actve"}}}}) ' +
        '{ nodes { id } } }',
    ]) {
      const { errors } = await send(gateway, { query, as: 'admin' });
      expect(errors.map((error) => error.extensions.code)).toEqual(['INVALID_VALUE']);
    }
  });

  it('by platform.db', async () => {
    const code = `
      const refusals = {};
      const attempt = async (name, work) => {
        try { await work(); refusals[name] = 'answered'; } catch (error) { refusals[name] = error.code; }
      };
      await attempt('count', () => platform.db.getCount('attendance', { status: 'presnt' }));
      await attempt('in', () => platform.db.getCount('attendance', { status: { $in: ['presnt'] } }));
      await attempt('negated', () => platform.db.getCount('attendance', { status: { $ne: 'presnt' } }));
      await attempt('agg', () => platform.db.agg('attendance', [{ $match: { status: 'presnt' } }], () => {}));
      await attempt('element', () => platform.db.getCount('result', { subjects: { $elemMatch: { components: { $elemMatch: { state: 'x' } } } } }));
      await attempt('update', () => platform.db.update('attendance', { status: 'presnt' }, { $set: { remark: 'x' } }));
      await attempt('listed', () => platform.db.getCount('attendance', { status: { $in: ['present', null] } }));
      await attempt('computed', () => platform.db.agg('attendance', [{ $set: { status: 'x' } }, { $match: { status: 'presnt' } }], () => {}));
      export default refusals;`;
    await ask(
      gateway,
      'mutation ($code: String!) { saveScript(script: {name: "enums", code: $code}) { name } }',
      {
        as: 'admin',
        variables: { code },
      },
    );
    const { runScript } = await ask(
      gateway,
      'mutation { runScript(name: "enums") { value error { message } } }',
    );
    expect(runScript).toEqual({
      error: null,
      value: {
        ...{ count: 'INVALID_VALUE', in: 'INVALID_VALUE', negated: 'INVALID_VALUE', agg: 'INVALID_VALUE' },
        ...{ element: 'INVALID_VALUE', update: 'INVALID_VALUE', listed: 'answered', computed: 'answered' },
      },
    });
  });
});

describe('is answered', () => {
  for (const path of [
    '/o/recs/attendance?oquery=status=present',
    '/o/recs/attendance?ci=true&oquery=status=PRESENT',
    '/o/recs/attendance?oquery=status=*pres',
    '/o/recs/attendance?oquery=status==pre',
    '/o/recs/result?term=halfyear',
  ]) {
    it(path, async () => {
      const response = await gateway.fetch(path, { as: 'admin' });
      expect([response.status, await response.json()]).toEqual([200, []]);
    });
  }
});
