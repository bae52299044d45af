/**
 * `npm test`: runs Jest. Words are folders of test/ (`npm test -- store rest` runs two rooms alone) or parts
 * of the paths of test files (`npm test -- oquery`); options go to Jest as they are. What needs a browser
 * (`npm run test:browser`) or the packages of others (`.ci/clients`) runs only if a word names that room.
 * With `--within browser`, the words are parts of the paths of that room alone.
 *
 * `--trials` (`npm run test:trials`) runs the files `*.trial.ts` in place of `*.test.ts`: what takes minutes
 * by its nature, because servers are killed, crowds are let in or hundreds of thousands of records pass.
 *
 * `--processor` ends with the processor seconds of the run and of its most expensive files.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { endedChildrenSeconds, PROCESSOR_LOG_VARIABLE, printSeconds } from './processor-seconds.mjs';

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));
const ROOMS = new Set(
  readdirSync(new URL('./', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name),
);
/**
 * Much of what most test files take is waiting: for Postgres, for other processes, for what must not happen.
 * With three of them, two cores are as fast as with six, and use a fifth less processor time, because the
 * files of a worker share its compiled code and its caches. Trials and browsers keep a core busy.
 */
const WORKERS_A_CORE = { tests: 1.5, busy: 2 };
/** Jest takes the first of two numbers of workers, and refuses a number together with `--runInBand`. */
const SAYS_WORKERS = /^(--maxWorkers|-w|--runInBand|-i)(=|$)/;

/** Ends as Jest ends: 0 when all passed. */
export async function runJest(words) {
  const isOfTrials = words[0] === '--trials';
  const patterns = toPatterns(isOfTrials ? words.slice(1) : words);
  const isBusy = isOfTrials || patterns.some((word) => word.startsWith('/test/browser/'));
  const workersACore = isBusy ? WORKERS_A_CORE.busy : WORKERS_A_CORE.tests;
  const workers = `--maxWorkers=${Math.ceil(workersACore * availableParallelism())}`;
  const namesRoomApart = patterns.some((word) => /browser|clients/.test(word));
  const jest = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      // To collect young objects less often takes some hundredths of the processor less.
      '--max-semi-space-size=64',
      '--disable-warning=ExperimentalWarning',
      JEST,
      ...(patterns.some((word) => SAYS_WORKERS.test(word)) ? [] : [workers]),
      ...patterns,
      // These stand last: Jest takes all words that follow for further values of them.
      ...(namesRoomApart || isOfTrials ? [] : ['--testPathIgnorePatterns=/test/(browser|clients)/']),
      ...(isOfTrials ? ['--testMatch=<rootDir>/test/**/*.trial.ts'] : []),
    ],
    { stdio: 'inherit' },
  );
  return await new Promise((resolve) => jest.once('exit', (code) => resolve(code ?? 1)));
}

/** The words as Jest takes them: patterns of paths, and its own options. */
function toPatterns(words) {
  if (words[0] !== '--within') return words.map((word) => (ROOMS.has(word) ? `/test/${word}/` : word));
  const room = `/test/${words[1]}/`;
  const rest = words.slice(2);
  // What follows an option may be its value.
  const firstOption = rest.findIndex((word) => word.startsWith('-'));
  const parts = firstOption === -1 ? rest : rest.slice(0, firstOption);
  const patterns = parts.length === 0 ? [room] : parts.map((word) => `${room}.*${word}`);
  return [...patterns, ...rest.slice(parts.length)];
}

/** Runs `run` and prints its processor seconds. */
async function withProcessorSeconds(run) {
  const folder = mkdtempSync(path.join(tmpdir(), 'campus-processor-'));
  const log = path.join(folder, 'seconds');
  writeFileSync(log, '');
  process.env[PROCESSOR_LOG_VARIABLE] = log;
  try {
    const code = await run();
    printSeconds(log, endedChildrenSeconds());
    return code;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2).filter((word) => word !== '--processor');
  const isMeasured = words.length < process.argv.length - 2;
  const run = () => runJest(words);
  process.exitCode = await (isMeasured ? withProcessorSeconds(run) : run());
}
