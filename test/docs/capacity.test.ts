/** The table of planned capacity follows from figures that stand in the documents. */
import { expect, it } from '@jest/globals';
import { readProjectFile } from './project-files.js';

const scale = readProjectFile('docs/scale.md');
const operate = readProjectFile('docs/operate.md');

/** The cells of the rows that begin with a number of something: `12 single records`, `1,000`. */
function rowsOf(heading: string): string[][] {
  const table = scale.slice(scale.indexOf(heading)).split('\n\n')[0] ?? '';
  return table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const numberOf = (text = '') => Number(text.replaceAll(',', ''));
/** `7 × 0.39 ms` as its factors. */
const factorsOf = (text = '') => (/^([\d.]+) × ([\d.]+) ms$/.exec(text) ?? []).slice(1).map(Number);
/** Milliseconds a second of one school, of the gateway or of PostgreSQL. */
const sumOf = (column: number) =>
  requests.reduce((sum, row) => {
    const [count = Number.NaN, each = Number.NaN] = factorsOf(row[column]);
    return sum + count * each;
  }, 0);

const perSecond = rowsOf('| a second | gateway | PostgreSQL |');
const requests = perSecond.slice(0, -1);
const perSchool = perSecond.at(-1);

it('rests on requests whose processor time stands where the table says', () => {
  expect(requests).toHaveLength(5);
  for (const [what = '', ofGateway, ofPostgres, source] of requests) {
    const [[count, gateway], [times, postgres]] = [factorsOf(ofGateway), factorsOf(ofPostgres)];
    expect([count, times]).toEqual([Number.parseInt(what, 10), count]);
    const document = source?.includes('operate.md') ? operate : scale;
    expect(document).toMatch(new RegExp(`\\| ${gateway?.toFixed(2)} \\+ 0?${postgres}0?[ ,]`));
  }
});

it('adds up what a school takes', () => {
  expect(perSchool?.[1]).toBe(`**${sumOf(1).toFixed(1)} ms: ${(sumOf(1) / 10).toFixed(1)} % of a core**`);
  expect(perSchool?.[2]).toBe(`**${sumOf(2).toFixed(1)} ms: ${(sumOf(2) / 10).toFixed(1)} % of a core**`);
});

it('has the cores that so many schools keep half busy', () => {
  const asked = requests.reduce((sum, [what = '']) => sum + Number.parseInt(what, 10), 0);
  const rows = rowsOf('| schools | requests a second | cores at half load');
  expect(rows.map(([schools]) => schools)).toEqual(['10', '100', '1,000', '10,000']);
  for (const [schools, aSecond, cores = ''] of rows) {
    const many = numberOf(schools);
    expect(numberOf(aSecond)).toBe(many * asked);
    const [gateways, postgres] = cores.split(' + ').map(Number);
    expect(gateways).toBeCloseTo((2 * many * sumOf(1)) / 1000, many > 100 ? 0 : 1);
    expect(postgres).toBeCloseTo((2 * many * sumOf(2)) / 1000, many > 100 ? 0 : 1);
  }
});
