/**
 * `npm test`: runs Jest. Words are folders of test/ (`npm test -- store rest` runs two rooms alone) or parts
 * of the paths of test files (`npm test -- oquery`); options go to Jest as they are. Without a word all is
 * run that needs no browser: what does (`npm run test:browser`) takes as long as half of all else.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));
const ROOMS = new Set(
  readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name),
);
/**
 * Half of what most test files take is waiting: for Postgres, for other processes, for what must not happen.
 */
const WORKERS_A_CORE = 2;

/** Ends as Jest ends: 0 when all passed. */
export async function runJest(words) {
  const isNarrowed = words.some((word) => !word.startsWith('-'));
  const jest = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      JEST,
      `--maxWorkers=${Math.ceil(WORKERS_A_CORE * availableParallelism())}`,
      ...(isNarrowed ? [] : ['--testPathIgnorePatterns=/test/browser/']),
      ...words.map((word) => (ROOMS.has(word) ? `/test/${word}/` : word)),
    ],
    { stdio: 'inherit' },
  );
  return await new Promise((resolve) => jest.once('exit', (code) => resolve(code ?? 1)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await runJest(process.argv.slice(2));
}
