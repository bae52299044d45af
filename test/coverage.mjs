/**
 * `npm run coverage`: the tests, or those of some rooms (`-- store rest`), and what of each room of src/ they
 * run.
 */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runJest } from './run.mjs';

const DIRECTORY = fileURLToPath(new URL('../node_modules/.cache/coverage/', import.meta.url));
const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));
/** What is counted of each file; V8 counts a statement as a line. */
const KINDS = ['lines', 'functions', 'branches'];

const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
const [[, swcOptions]] = Object.values(manifest.jest.transform);

await rm(DIRECTORY, { recursive: true, force: true });
process.exitCode = await runJest([
  '--coverage',
  '--coverageProvider=v8',
  // Jest counts in the realm of a test, into which each file has to load src/ anew.
  '--testEnvironment=node',
  `--transform=${JSON.stringify({ '\\.ts$': ['@swc/jest', swcOptions] })}`,
  '--transformIgnorePatterns=/node_modules/',
  '--coverageReporters=json-summary',
  '--coverageReporters=lcovonly',
  `--coverageDirectory=${DIRECTORY}`,
  // What runs in browsers, and what is generated, is not for these tests to cover.
  '--collectCoverageFrom=src/**/*.ts',
  '--collectCoverageFrom=!src/*/browser/**',
  '--collectCoverageFrom=!src/generated/**',
  ...process.argv.slice(2),
]);

const { total, ...files } = JSON.parse(await readFile(path.join(DIRECTORY, 'coverage-summary.json'), 'utf8'));
const rooms = new Map();
for (const [file, counts] of Object.entries(files)) {
  const [room, ...rest] = path.relative(SOURCES, file).split(path.sep);
  const name = rest.length === 0 ? 'src' : room;
  const sums = rooms.get(name) ?? new Map(KINDS.map((kind) => [kind, { covered: 0, total: 0 }]));
  for (const [kind, sum] of sums) {
    sum.covered += counts[kind].covered;
    sum.total += counts[kind].total;
  }
  rooms.set(name, sums);
}

const row = (name, cells) => `${name.padEnd(12)}${cells.map((cell) => String(cell).padStart(11)).join('')}\n`;
const shareOf = ({ covered, total: all }) => (all === 0 ? '-' : `${((100 * covered) / all).toFixed(1)} %`);
process.stdout.write(`\n${row('room', KINDS)}`);
for (const [name, sums] of [...rooms].sort(([one], [other]) => one.localeCompare(other))) {
  process.stdout.write(
    row(
      name,
      KINDS.map((kind) => shareOf(sums.get(kind))),
    ),
  );
}
process.stdout.write(
  row(
    'all',
    KINDS.map((kind) => shareOf(total[kind])),
  ),
);
process.stdout.write(`line by line: ${path.join(DIRECTORY, 'lcov.info')}\n`);
