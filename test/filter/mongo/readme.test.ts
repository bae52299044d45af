/** The README says of Mongo's language what the code does. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { QUERY_OPERATORS } from '../../../src/filter/mongo.js';
import { MONGO_DIFFERENCES } from '../../../src/filter/mongo-differences.js';
import { UPDATE_OPERATORS } from '../../../src/filter/mongo-update.js';
import { STAGE_NAMES } from '../../../src/filter/pipeline.js';
import { EXPRESSION_OPERATORS } from '../../../src/store/sql/document/expression-operators.js';
import { SQL_ACCUMULATORS } from '../../../src/store/sql/pipeline/compile-group.js';

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const [, section = ''] = /^### Queries, updates and pipelines\n([\s\S]*?)^##+ /m.exec(README) ?? [];

describe('the README', () => {
  it('names every operator and stage there is', () => {
    const names = [
      ...QUERY_OPERATORS,
      ...UPDATE_OPERATORS,
      ...STAGE_NAMES,
      ...SQL_ACCUMULATORS,
      ...EXPRESSION_OPERATORS.keys(),
    ];
    expect(names.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  });

  it('lists every difference from MongoDB and mingo', () => {
    const rows = MONGO_DIFFERENCES.map(({ name, here, elsewhere }) => `| ${name} | ${here} | ${elsewhere} |`);
    expect(rows.filter((row) => !section.includes(row))).toEqual([]);
  });
});
