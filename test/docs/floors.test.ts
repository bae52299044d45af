/** The rooms call downwards alone. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FLOORS, findForbidden, findUpward } from './floors.js';
import { listSpecifiers, readImports, readPackages } from './import-graph.js';
import { ROOT } from './project-files.js';

const IMPORTS = readImports();

/** The first level of `src`, from the bottom up. */
const WINGS = ['base', 'store', 'school', 'services', 'portal', 'gateway', 'cli', 'main.ts'];

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

  it('are made by files of rooms in the list, or of the bottom', () => {
    const outside = IMPORTS.filter(({ from }) => !FLOORS.some(({ name }) => from.startsWith(name)));
    expect(outside.map(({ from }) => from).filter((from) => !from.startsWith('base/'))).toEqual([]);
  });

  it('run down from wing to wing', () => {
    const wingOf = (file: string) => WINGS.indexOf(file.split('/')[0] ?? '');
    const inWings = IMPORTS.filter(({ to }) => !to.startsWith('generated/'));
    expect(inWings.filter(({ from, to }) => wingOf(from) < wingOf(to))).toEqual([]);
    const entries = readdirSync(path.join(ROOT, 'src')).filter((name) => name !== 'generated');
    expect(entries.sort()).toEqual([...WINGS].sort());
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
    const others = users.filter(
      ({ from }) => !/^(gateway\/(server|graphql)|portal\/browser\/explorer)\//.test(from),
    );
    expect(users.length).toBeGreaterThan(20);
    expect([...new Set(others.map(({ from }) => from))]).toEqual(['base/http/text-answer.ts']);
  });
});

describe('the check of the floors', () => {
  it.each([
    ['base/model/scope.ts', 'store/record-store.ts'],
    ['base/model/scope.ts', 'gateway/config/config.ts'],
    ['base/model/scope.ts', 'base/text/did-you-mean.ts'],
    ['store/record-store.ts', 'school/reports/registry.ts'],
    ['store/database/pool.ts', 'store/record-store.ts'],
    ['school/reports/strength.ts', 'gateway/resolvers/request-context.ts'],
    ['gateway/resolvers/resolvers.ts', 'gateway/graphql/schema.ts'],
    ['gateway/rest/routes.ts', 'gateway/graphql/schema.ts'],
    ['gateway/graphql/schema.ts', 'gateway/rest/routes.ts'],
    ['gateway/server/routes/portal.ts', 'school/demo/demo-options.ts'],
    ['gateway/compose/app.ts', 'school/demo/load.ts'],
    ['base/errors.ts', 'base/model/scope.ts'],
  ])('refuses that %s imports %s', (from, to) => {
    expect(findForbidden([{ from, to }])).toEqual([{ from, to }]);
  });

  it.each([
    ['base/model/scope.ts', 'base/json/json.ts'],
    ['base/model/scope.ts', 'base/model/path.ts'],
    ['store/record-store.ts', 'store/database/pool.ts'],
    ['gateway/rest/routes.ts', 'gateway/resolvers/resolvers.ts'],
    ['base/json/json.ts', 'base/errors.ts'],
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
    expect(listSpecifiers(text)).toEqual([specifier]);
  });

  it('is none where its words stand in a text', () => {
    expect(listSpecifiers(`const a = "import { a } from './a.js'"; // import './b.js'`)).toEqual([]);
  });
});
