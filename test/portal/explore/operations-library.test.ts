import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema, parse, validate } from 'graphql';
import { findPackageDirectory } from '../../../src/base/process/package-directory.js';
import type { ExampleOperation } from '../../../src/portal/explore/example-operation.js';
import { loadOperationsLibrary } from '../../../src/portal/explore/operations-library.js';
import { reports } from '../../../src/school/reports/registry.js';

const DIRECTORY = path.join(findPackageDirectory(), 'schema');
const schema = buildSchema(readFileSync(path.join(DIRECTORY, 'schema.graphql'), 'utf8'));
let library: readonly ExampleOperation[];
beforeAll(async () => {
  library = await loadOperationsLibrary(path.join(DIRECTORY, 'operations'));
});

describe('the operations library', () => {
  it('is valid by schema.graphql, every operation of it', () => {
    const faults = library.flatMap(({ name, document }) =>
      validate(schema, parse(document)).map(({ message }) => `${name}: ${message}`),
    );
    expect(faults).toEqual([]);
  });

  it('has a title and an operation name of its own for each', () => {
    const names = library.map(({ document }) => /\w+ (\w+)/.exec(document)?.[1]);
    expect(new Set(names).size).toBe(library.length);
    expect(new Set(library.map(({ title }) => title)).size).toBe(library.length);
  });

  it('gives values only to variables the operation has', () => {
    for (const { name, document, variables } of library) {
      const missing = Object.keys(variables).filter((variable) => !document.includes(`$${variable}:`));
      expect({ name, missing }).toEqual({ name, missing: [] });
    }
  });

  it.each(reports.map((report) => [report.name, report] as const))(
    'has an example of the report %s, for those who may run it',
    (_, report) => {
      const example = library.find(({ name }) => name === report.name);
      expect(example?.title).toBe(report.title);
      expect(example?.document).toMatch(new RegExp(`\\b${report.field}\\b`));
      const teachers = report.teachers === 'none' ? [] : ['teacher'];
      expect(new Set(example?.roles)).toEqual(new Set(['admin', ...report.roles, ...teachers]));
    },
  );

  it('has at least a dozen examples of what else there is', () => {
    const names = new Set(reports.map(({ name }) => name));
    const others = library.filter(({ name }) => !names.has(name));
    expect(others.length).toBeGreaterThanOrEqual(12);
    expect(others.map(({ kind }) => kind)).toContain('mutation');
  });
});
