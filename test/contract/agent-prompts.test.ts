/** The prompts for agents, the completion of arguments and addresses, and errors in the words of tools. */
import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';
import { type Answered, ask } from './graphql.js';

const gateway = useGateway();

async function post(method: string, params: object, as: Role = 'admin'): Promise<Answered> {
  const answer = await gateway.fetch('/mcp', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return await answer.json();
}

const namesOf = async (as: Role): Promise<readonly string[]> =>
  (await post('prompts/list', {}, as)).result.prompts.map(({ name }: Answered) => name);

beforeAll(async () => {
  const sections = [{ name: 'A' }];
  for (const name of ['1', '10', '2', 'Nursery']) {
    await ask(gateway, 'mutation ($d: JSON!) { createRecord(collection: "class", data: $d) { id } }', {
      variables: { d: { name, category: 'Primary', sections } },
    });
  }
});

describe('prompts', () => {
  it('are listed where the caller may use their tools', async () => {
    const declared = readdirSync(new URL('../../schema/prompts/', import.meta.url))
      .filter((file) => file.endsWith('.json') && !file.endsWith('.schema.json'))
      .map((file) => file.replace('.json', ''));
    // Each tool of a declaration is there.
    expect([...(await namesOf('admin'))].sort()).toEqual(declared.sort());
    expect(await namesOf('teacher')).toEqual(['absent-students', 'student-overview']);
    expect(await namesOf('viewer')).toEqual([]);
    const { result } = await post('prompts/list', {});
    expect(result.prompts.find(({ name }: Answered) => name === 'largest-dues')).toMatchObject({
      title: 'Who owes most in a class',
      arguments: [{ name: 'class', required: true }, { name: 'month' }, { name: 'minimum' }],
    });
  });

  it('are the question with what was given, and days of the school', async () => {
    const textOf = async (sent: object): Promise<string> => {
      const { result } = await post('prompts/get', { name: 'absent-students', arguments: sent });
      expect(result.messages[0].role).toBe('user');
      return result.messages[0].content.text;
    };
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' }).format();
    expect(await textOf({})).toMatch(new RegExp(`absent or on leave on ${today}\\?`));
    expect(await textOf({})).not.toContain('class alone');
    const given = await textOf({ class: '5', day: '2026-07-01' });
    expect(given).toContain('day-sheet with date 2026-07-01.');
    expect(given).toContain('Ask about class 5 alone');
    expect(given).not.toContain('{{');
  });

  it.each([
    ['an unknown prompt', 'absent-student', {}, 'NOT_FOUND', 'Did you mean "absent-students"?'],
    ['an unknown argument', 'absent-students', { clas: '5' }, 'INVALID_VALUE', 'Did you mean "class"?'],
    ['a missing argument', 'largest-dues', { class: ' ' }, 'INVALID_VALUE', 'class: The prompt needs'],
  ])('refuse %s', async (_what, name, sent, code, words) => {
    const { error } = await post('prompts/get', { name, arguments: sent });
    expect(error).toMatchObject({ message: expect.stringContaining(words), data: { code } });
  });

  it('are unknown to a caller who may not use their tools', async () => {
    const { error } = await post(
      'prompts/get',
      { name: 'largest-dues', arguments: { class: '5' } },
      'viewer',
    );
    expect(error.data.code).toBe('NOT_FOUND');
  });
});

describe('completion', () => {
  const complete = async (ref: object, name: string, value: string, as: Role = 'admin') =>
    (await post('completion/complete', { ref, argument: { name, value } }, as)).result?.completion;
  const prompt = (name: string) => ({ type: 'ref/prompt', name });
  const resource = (uri: string) => ({ type: 'ref/resource', uri });

  it('offers the values of a field that begin so', async () => {
    expect(await complete(prompt('absent-students'), 'class', '1')).toEqual({
      values: ['1', '10'],
      hasMore: false,
    });
    expect((await complete(prompt('absent-students'), 'class', 'nur')).values).toEqual(['Nursery']);
    expect((await complete(prompt('absent-students'), 'day', '')).values).toHaveLength(3);
    expect((await complete(prompt('largest-dues'), 'minimum', '')).values).toEqual([]);
  });

  it('offers collections and types that the caller may know', async () => {
    const collections = resource('campus://collections/{name}');
    expect((await complete(collections, 'name', 'fee_re')).values).toEqual(['fee_receipt']);
    expect((await complete(collections, 'name', 'fee_re', 'viewer')).values).toEqual([]);
    const types = resource('campus://schema/{type}');
    expect((await complete(types, 'type', 'feereceiptc')).values).toContain('FeeReceiptConnection');
    expect((await complete(types, 'type', 'feereceipt', 'viewer')).values).toEqual([]);
    const all = await complete(types, 'type', '');
    expect([all.values.length, all.hasMore]).toEqual([100, true]);
    expect((await complete(resource('campus://other/{name}'), 'name', '')).values).toEqual([]);
  });
});

it('errors name the arguments of a tool', async () => {
  const messageOf = async (name: string, sent: object) => {
    const { result } = await post('tools/call', { name, arguments: sent });
    expect(result.isError).toBe(true);
    const [error] = JSON.parse(result.content[0].text).errors;
    expect(error.locations).toBeUndefined();
    return error.message;
  };
  expect(await messageOf('fee-defaulters', { startMonth: '2026-04' })).toBe(
    'Argument "endMonth" is missing; a value of type "Month!" is required.',
  );
  expect(await messageOf('fee-defaulters', { startMonth: '2026-04', endMonth: 7 })).toMatch(
    /^Argument "endMonth" got invalid value 7;/,
  );
  expect(await messageOf('students-by-name', { oquery: null })).toMatch(/^The argument "oquery" is null/);
});
