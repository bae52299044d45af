/** Every door reads an operand as texts are stored, and ignores case where a key does. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway();

const STUDENT = {
  ...{ name: 'Zoë', section: 'A', session: '2026-27', gender: 'female' },
  ...{ admitted_on: '2026-04-01', status: 'active' },
};
const PLACE = { class: 'Nurséry', section: 'A', session: '2026-27', month: '2026-04' };

async function rest(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await gateway.fetch(path, {
    ...{ method, as: 'admin', ...(body !== undefined && { body: JSON.stringify(body) }) },
    headers: { 'content-type': 'application/json' },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text === '' ? undefined : JSON.parse(text);
}

beforeAll(async () => {
  const make = async (collection: string, record: object) => await rest('POST', `/o/${collection}`, record);
  const sections = [{ name: 'A' }];
  for (const name of ['Nurséry', '5']) await make('class', { name, category: 'primary', sections });
  for (const name of ['Tuition  fee', 'Bus']) await make('fee_head', { name });
  await make('registration', { ...STUDENT, _id: 's-1', sequence: 'Adm-É01', class: 'Nurséry' });
  await make('registration', { ...STUDENT, _id: 's-2', sequence: 'Adm-É02', class: '5' });
  for (const [student, place, head] of [
    ['s-1', 'Nurséry', 'Tuition  fee'],
    ['s-2', '5', 'Bus'],
  ]) {
    const due = { _id: `due-${student}`, student, fee_head: head, amount: 100, due_date: '2026-04-10' };
    await make('fee_due', { ...PLACE, ...due, class: place });
  }
  for (const student of ['s-1', 's-2']) {
    await ask(
      gateway,
      `mutation { recordReceipt(receipt: {studentId: "${student}", paymentType: CASH, amount: "1"}) { id } }`,
    );
  }
  const code = `export default async ({ collection, filter }) =>
    (await platform.aggregate(collection, [{ $match: filter }])).map(({ _id }) => _id)`;
  await ask(gateway, 'mutation($s: SaveScriptInput!) { saveScript(script: $s) { name } }', {
    variables: { s: { name: 'seek', code } },
  });
});

/** Spellings of the number, the class and the fee head: blanks, case, invisible and decomposed letters. */
const SPELLINGS: readonly (readonly [number: string, place: string, head: string])[] = [
  ['Adm-É01', 'Nurséry', 'Tuition fee'],
  [' aDm-é01 ', ' nURSÉRY', 'TUITION  FEE '],
  ['\u00A0ADM-E\u030101\u00A0', '\u00A0NURSE\u0301RY', '\u00A0tuition\u00A0fee'],
  ['\u200Badm-e\u030101\u200E', 'Nurse\u0301ry\u200B', 'Tuition\u200B Fee'],
];

type Door = (field: string, collection: string, operand: string) => Promise<readonly string[]>;

const ids = (records: unknown) =>
  (records as readonly { _id?: string; id?: string }[]).map((r) => r._id ?? r.id ?? '');
const graphql = async (query: string, variables: object) => (await ask(gateway, query, { variables })).found;
const script = async (collection: string, filter: object) => {
  const { runScript } = await ask(
    gateway,
    'mutation($a: JSON) { runScript(name: "seek", arguments: $a) { value error { message } } }',
    { variables: { a: { collection, filter } } },
  );
  return runScript.value ?? runScript.error;
};
const oquery = (field: string, operand: string) => `oquery=${encodeURIComponent(`${field}=${operand}`)}`;
const where = (filter: object) => `where=${encodeURIComponent(JSON.stringify(filter))}`;
const nested = (field: string, condition: unknown) =>
  field.split('.').reduceRight<unknown>(
    (inner, name, at, all) => ({
      [name]: at < all.length - 1 && name === 'lines' ? { any: inner } : inner,
    }),
    condition,
  ) as object;
const TYPED: Readonly<Record<string, string>> = {
  registration: 'registrations',
  fee_due: 'feeDues',
  fee_receipt: 'feeReceipts',
};
const INPUT: Readonly<Record<string, string>> = {
  registration: 'Registration',
  fee_due: 'FeeDue',
  fee_receipt: 'FeeReceipt',
};
const camel = (field: string) => field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const DOORS: Readonly<Record<string, Door>> = {
  'REST, oquery': async (field, collection, operand) =>
    ids(await rest('GET', `/o/recs/${collection}?${oquery(field, operand)}`)),
  'REST, oquery in a body': async (field, collection, operand) =>
    ids(await rest('POST', `/o/recs/${collection}`, { oquery: `${field}=${operand}` })),
  'REST, where': async (field, collection, operand) =>
    ids(await rest('GET', `/o/recs/${collection}?${where(nested(field, { equals: operand }))}`)),
  'REST, where, not': async (field, collection, operand) => {
    const all = ids(await rest('GET', `/o/recs/${collection}`));
    const others = ids(
      await rest('GET', `/o/recs/${collection}?${where({ not: nested(field, { equals: operand }) })}`),
    );
    return all.filter((id) => !others.includes(id));
  },
  'GraphQL, typed': async (field, collection, operand) =>
    ids(
      (
        await graphql(
          `query($w: ${INPUT[collection]}WhereInput) {
            found: ${TYPED[collection]}(where: $w) { nodes { id } }
          }`,
          {
            w: nested(camel(field), { in: ['nothing', operand] }),
          },
        )
      ).nodes,
    ),
  'GraphQL, a count': async (field, collection, operand) => {
    const [{ count }] = await graphql(
      `query($w: ${INPUT[collection]}WhereInput) {
            found: ${TYPED[collection]}Aggregate(where: $w) { count }
      }`,
      {
        w: nested(camel(field), { equals: operand }),
      },
    );
    return count === 1
      ? ids(await rest('GET', `/o/recs/${collection}?${oquery(field, operand)}`))
      : [`count ${count}`];
  },
  'GraphQL, generic': async (field, collection, operand) =>
    ids(
      (
        await graphql(
          `query($w: JSON) { found: records(collection: "${collection}", where: $w) { nodes { id } } }`,
          {
            w: nested(field, { equals: operand }),
          },
        )
      ).nodes,
    ),
  'an agent': async (field, collection, operand) => {
    const answer = (await rest('POST', '/mcp', {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: {
        name: 'search-records',
        arguments: { collection, where: nested(field, { equals: operand }) },
      },
    })) as { result: { content: readonly { text: string }[] } };
    return ids(JSON.parse(answer.result.content[0]?.text ?? '').records.nodes);
  },
  'a script, equality': async (field, collection, operand) => await script(collection, { [field]: operand }),
  'a script, $in': async (field, collection, operand) =>
    await script(collection, { [field]: { $in: ['nothing', operand] } }),
  'a script, $nin': async (field, collection, operand) =>
    await script(collection, { $nor: [{ [field]: { $nin: ['nothing', operand] } }] }),
};

describe.each(Object.keys(DOORS))('%s', (door) => {
  it.each(SPELLINGS)('finds %j', async (number, place, head) => {
    const receipt = ids(await rest('GET', '/o/recs/fee_receipt?oquery=student.value=s-1'));
    const find = async (...of: Parameters<Door>) => await DOORS[door]?.(...of);
    expect([
      await find('sequence', 'registration', number),
      await find('class', 'fee_due', place),
      await find('fee_head', 'fee_due', head),
      await find('lines.fee_head', 'fee_receipt', head),
    ]).toEqual([['s-1'], ['due-s-1'], ['due-s-1'], receipt]);
  });
});

it('finds elements of lists by $elemMatch', async () => {
  const query = { lines: { $elemMatch: { fee_head: ' tuition FEE' } } };
  expect(await script('fee_receipt', query)).toHaveLength(1);
});

it('compares texts that are no key by case', async () => {
  expect(await rest('GET', '/o/recs/registration?oquery=name=zoe\u0308')).toEqual([]);
  expect(await rest('GET', '/o/recs/registration?oquery=name=Zoe\u0308%20')).toHaveLength(2);
});
