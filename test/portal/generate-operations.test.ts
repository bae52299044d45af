import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { generateOperations } from '../../src/portal/generate-operations.js';

const SCHEMA =
  'type Query { task(id: ID!): Task } type Task { id: ID! name: String amount: Decimal } scalar Decimal';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** The module made of a document. */
async function generate(document: string): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'campus-operations-'));
  folders.push(folder);
  await mkdir(path.join(folder, 'browser', 'tasks'), { recursive: true });
  await writeFile(path.join(folder, 'schema.graphql'), SCHEMA);
  await writeFile(path.join(folder, 'browser', 'tasks', 'tasks.graphql'), document);
  await generateOperations({
    sources: path.join(folder, 'browser'),
    schema: path.join(folder, 'schema.graphql'),
    target: path.join(folder, 'generated'),
  });
  return await readFile(path.join(folder, 'generated', 'tasks', 'tasks.ts'), 'utf8');
}

describe('generateOperations', () => {
  it('makes a module of a document: the texts, with the types they were checked for', async () => {
    const module = await generate(`
      query One($id: ID!) { task(id: $id) { ...Named } }
      query Other($id: ID!) { task(id: $id) { amount } }
      fragment Named on Task { name }`);
    expect(module).toContain(
      "import type { PortalOperation } from '../../../portal/browser/session/graphql-headers';",
    );
    expect(module).toContain('export const One: PortalOperation<OneQuery, OneQueryVariables>');
    expect(module).toContain(
      'text: "query One($id:ID!){task(id:$id){...Named}}fragment Named on Task{name}"',
    );
    expect(module).toContain('text: "query Other($id:ID!){task(id:$id){amount}}"');
    expect(module).toMatch(/readonly amount: string \| null/);
  });

  it('refuses what the schema does not have, and names the document', async () => {
    await expect(generate('query One($id: ID!) { task(id: $id) { colour } }')).rejects.toThrow(
      'tasks/tasks.graphql: Cannot query field "colour" on type "Task".',
    );
  });

  it('refuses an operation without a name', async () => {
    await expect(generate('{ task(id: "1") { id } }')).rejects.toThrow('has no name');
  });
});
