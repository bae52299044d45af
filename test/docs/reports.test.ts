import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { reports } from '../../src/school/reports/registry.js';

const MANUAL = readFileSync(new URL('../../docs/reports.md', import.meta.url), 'utf8');

describe('the manual', () => {
  it.each(reports.map((report) => [report.field, report] as const))(
    'shows the report %s with its paths',
    (_, report) => {
      const row = MANUAL.split('\n').find((line) => line.startsWith(`| ${report.title} |`)) ?? '';
      expect(row).toContain(`\`${report.field}\``);
      expect(row).toContain(`\`${report.name}\``);
      expect(row).toContain(`(../schema/operations/${report.name}.graphql)`);
      for (const { method, path } of report.routes) expect(row).toContain(`\`${method} ${path}\``);
    },
  );
});
