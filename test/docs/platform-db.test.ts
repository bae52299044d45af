/** The manual says of Mongo's language what the code does. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SQL_ACCUMULATORS } from '../../src/store/mongo/compile-pipeline.js';
import { EXPRESSION_OPERATORS } from '../../src/store/mongo/expression-operators.js';
import { STAGE_NAMES } from '../../src/store/mongo/mongo-pipeline.js';
import { QUERY_OPERATORS } from '../../src/store/mongo/mongo-query.js';
import { UPDATE_OPERATORS } from '../../src/store/mongo/mongo-update.js';
import { listFiles, readProjectFile } from './project-files.js';

const MANUAL = readFileSync(new URL('../../docs/platform-db.md', import.meta.url), 'utf8');

describe('the manual', () => {
  it('names every operator and stage there is', () => {
    const names = [
      ...QUERY_OPERATORS,
      ...UPDATE_OPERATORS,
      ...STAGE_NAMES,
      ...SQL_ACCUMULATORS,
      ...Object.keys(EXPRESSION_OPERATORS),
    ];
    expect(names.filter((name) => !MANUAL.includes(`\`${name}\``))).toEqual([]);
  });

  it('lists every difference from MongoDB that a test makes an exception for', () => {
    const named = listFiles('test/store/mongo')
      .flatMap((file) => readProjectFile(file).split('\n'))
      .filter((line) => line.includes('of the differences in the manual'))
      .flatMap((line) => [...line.matchAll(/"([^"]+)"/g)].map(([, name]) => name));
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !MANUAL.includes(`\n| ${name} | `))).toEqual([]);
  });
});
