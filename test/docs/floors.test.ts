/** The rooms call downwards alone. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FLOORS, findForbidden, findUpward } from './floors.js';
import { listSpecifiers, readImports, readPackages } from './import-graph.js';
import { ROOT } from './project-files.js';

const IMPORTS = readImports();

describe('the imports of src', () => {
  it('run down from room to room', () => {
    expect(IMPORTS.length).toBeGreaterThan(2000);
    expect(findForbidden(IMPORTS)).toEqual([]);
  });

  it('lead through rooms of which none stands above another that it is named by', () => {
    expect(findUpward()).toEqual([]);
    expect(
      findUpward([
        { name: 'a/', imports: ['b/'] },
        { name: 'b/', imports: ['a/'] },
      ]),
    ).toEqual(['a/ → b/']);
  });

  it('are made by rooms that are all in the list', () => {
    const folders = readdirSync(path.join(ROOT, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'generated')
      .map(({ name }) => `${name}/`);
    expect(folders.filter((folder) => !FLOORS.some(({ name }) => name === folder))).toEqual([]);
  });

  it('name nothing that no file of a room needs', () => {
    const unused = FLOORS.flatMap(({ name, imports }) =>
      imports
        .filter((one) => !IMPORTS.some(({ from, to }) => from.startsWith(name) && to.startsWith(one)))
        .map((one) => `${name} → ${one}`),
    );
    expect(unused).toEqual([]);
  });
});

describe('the packages of HTTP', () => {
  it('are used by the rooms that speak it, and by what writes the text of an answer for both', () => {
    const users = readPackages().filter(({ to }) => /^(fastify|@fastify\/|@apollo\/|ws|node:http)/.test(to));
    const others = users.filter(({ from }) => !/^(server|graphql|portal\/browser\/explorer)\//.test(from));
    expect(users.length).toBeGreaterThan(20);
    expect([...new Set(others.map(({ from }) => from))]).toEqual(['text-answer.ts']);
  });
});

describe('the check of the floors', () => {
  it.each([
    ['model/scope.ts', 'store/record-store.ts'],
    ['model/scope.ts', 'config.ts'],
    ['model/scope.ts', 'did-you-mean.ts'],
    ['store/record-store.ts', 'reports/registry.ts'],
    ['store/database/pool.ts', 'store/record-store.ts'],
    ['reports/strength.ts', 'resolvers/request-context.ts'],
    ['resolvers/resolvers.ts', 'graphql/schema.ts'],
    ['rest/routes.ts', 'graphql/schema.ts'],
    ['graphql/schema.ts', 'rest/routes.ts'],
    ['server/portal.ts', 'demo/demo-options.ts'],
    ['compose/app.ts', 'demo/load.ts'],
    ['errors.ts', 'model/scope.ts'],
  ])('refuses that %s imports %s', (from, to) => {
    expect(findForbidden([{ from, to }])).toEqual([{ from, to }]);
  });

  it.each([
    ['model/scope.ts', 'json.ts'],
    ['model/scope.ts', 'model/path.ts'],
    ['store/record-store.ts', 'store/database/pool.ts'],
    ['rest/routes.ts', 'resolvers/resolvers.ts'],
    ['json.ts', 'errors.ts'],
  ])('lets %s import %s', (from, to) => {
    expect(findForbidden([{ from, to }])).toEqual([]);
  });
});

describe('an import', () => {
  it.each([
    ["import { a } from './a.js';", './a.js'],
    ["import type { A } from './a.js';", './a.js'],
    ["import './a.js';", './a.js'],
    ["export { a } from './a.js';", './a.js'],
    ["export * from './a.js';", './a.js'],
    ["const a = await import('./a.js');", './a.js'],
    ["let a: import('./a.js').A;", './a.js'],
    ["class A { @b() c: import('./a.js').A | undefined; }", './a.js'],
  ])('is found in %s', (text, specifier) => {
    expect(listSpecifiers(text, { isTsx: false })).toEqual([specifier]);
  });

  it('is none where its words stand in a text', () => {
    expect(
      listSpecifiers(`const a = "import { a } from './a.js'"; // import './b.js'`, { isTsx: false }),
    ).toEqual([]);
  });
});
