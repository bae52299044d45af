/**
 * The types that GraphQL Code Generator makes of schema/schema.graphql, for operations as dashboards write
 * them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema, parse } from 'graphql';

const TSC = 'node_modules/typescript/lib/tsc.js';
const OPERATIONS = 'schema/operations';
const CACHE = 'node_modules/.cache';

let directory = '';
beforeAll(async () => {
  // Beside the packages, which the generated files import.
  await mkdir(CACHE, { recursive: true });
  directory = await mkdtemp(path.join(CACHE, 'generated-types-'));
});
afterAll(async () => await rm(directory, { recursive: true, force: true }));

/** Writes the types of these operations and of the whole schema, and a program that uses them. */
async function generate(operations: readonly string[], program: string): Promise<void> {
  const documents = operations.map((operation, index) => ({
    location: `${index}.graphql`,
    document: parse(operation),
  }));
  await write('types.ts', { typescriptOperations }, documents);
  await write('schema.ts', { typescript }, []);
  await writeFile(path.join(directory, 'program.ts'), program);
}

async function write(
  filename: string,
  pluginMap: Parameters<typeof codegen>[0]['pluginMap'],
  documents: Parameters<typeof codegen>[0]['documents'],
): Promise<void> {
  const schema = await readFile('schema/schema.graphql', 'utf8');
  const types = await codegen({
    filename,
    schema: parse(schema),
    schemaAst: buildSchema(schema),
    documents,
    config: { scalars: SCALARS, enumsAsTypes: true },
    plugins: Object.keys(pluginMap).map((name) => ({ [name]: {} })),
    pluginMap,
  });
  await writeFile(path.join(directory, filename), types);
}

/** As they travel. */
const SCALARS = {
  Decimal: 'string',
  DateTime: 'string',
  LocalDate: 'string',
  Month: 'string',
  JSON: 'unknown',
  JSONObject: '{ readonly [name: string]: unknown }',
};

/** The complaints of the compiler; empty for none. */
async function compile(): Promise<string> {
  const files = ['types.ts', 'schema.ts', 'program.ts'].map((file) => path.join(directory, file));
  const flags = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
  const target = [
    ...['--target', 'es2023', '--module', 'nodenext'],
    ...['--types', 'node', '--skipLibCheck', '--ignoreConfig'],
  ];
  const compiler = spawn(process.execPath, [TSC, ...flags, ...target, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(compiler, 'close');
  const complaints = await text(compiler.stdout);
  await ended;
  return complaints;
}

describe('GraphQL Code Generator', () => {
  const DASHBOARD = `
    query Dashboard($class: String!, $after: String) {
      registrations(where: { class: { equals: $class } }, orderBy: [{ field: ROLL_NO }], first: 20, after: $after) {
        totalCount
        nodes { id sequence name rollNo attendanceRecords(first: 5) { nodes { created status } } }
        pageInfo { hasNextPage endCursor }
      }
      feeReceiptsAggregate(groupBy: [DATE_MONTH, PAYMENT_TYPE]) { key { dateMonth paymentType } count total { sum } }
    }
    mutation Create($data: CreateTaskInput!) { createTask(data: $data) { id name amount manager { id label } } }`;

  const program = (body: string) =>
    `
    import type { CreateMutation, CreateMutationVariables, DashboardQuery, DashboardQueryVariables } from './types.ts';
    ${body}`.replace("'./types.ts'", "'./types.js'");

  it('makes types that hold for what a dashboard does with an answer', async () => {
    await generate(
      [DASHBOARD],
      program(`
        export const variables: DashboardQueryVariables = { class: '5' };
        export function names(answer: DashboardQuery): string[] {
          const nodes = answer.registrations?.nodes ?? [];
          return nodes.map(({ name, rollNo }) => \`\${(rollNo ?? 0).toFixed(0)} \${name}\`);
        }
        export function sums(answer: DashboardQuery): [month: string | null | undefined, sum: string | null | undefined][] {
          return (answer.feeReceiptsAggregate ?? []).map(({ key, total }) => [key.dateMonth, total.sum]);
        }
        export function next(answer: DashboardQuery): DashboardQueryVariables {
          return { class: '5', after: answer.registrations?.pageInfo.endCursor ?? null };
        }
        export const create: CreateMutationVariables = { data: { name: 'Repair', amount: '12.50', manager: { id: 'usr-teacher' } } };
        export const label = (made: CreateMutation) => made.createTask?.manager?.label?.toUpperCase();`),
    );
    expect(await compile()).toBe('');
  });

  it('makes types that refuse what is wrong', async () => {
    await generate(
      [DASHBOARD],
      program(`
        export const without: DashboardQueryVariables = {};
        export const amount: CreateMutationVariables = { data: { name: 'Repair', amount: { rupees: 12 } } };
        export const wrong = (answer: DashboardQuery) => answer.registrations?.nodes.map(({ nmae }) => nmae);
        export const create: CreateMutation = { createTask: 1 };`),
    );
    const complaints = await compile();
    expect(complaints).toContain("Property 'class' is missing");
    expect(complaints).toContain('amount');
    expect(complaints).toContain("Property 'nmae' does not exist");
    expect(complaints.match(/error TS/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it('makes types of every operation that comes with the gateway', async () => {
    const files = (await readdir(OPERATIONS)).filter((file) => file.endsWith('.graphql'));
    const operations = await Promise.all(files.map((file) => readFile(path.join(OPERATIONS, file), 'utf8')));
    await generate(operations, "export type { FeeDefaultersQuery } from './types.js';");
    expect(await compile()).toBe('');
  });
});
