/**
 * `npm test -- --processor`: the processor seconds of a run, which a busy machine changes little. Counted are Jest,
 * its workers and their children, and the PostgreSQL of the run; not counted is a PostgreSQL that a test starts by
 * itself, because it is no child of the test. Linux only.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';

/** The file that workers append their lines to; without it nothing is measured. */
export const PROCESSOR_LOG_VARIABLE = 'CAMPUS_PROCESSOR_LOG';

/** Linux counts processor time in hundredths of a second. */
const TICKS_A_SECOND = 100;
/** Fields of /proc/<pid>/stat after the name of the program, which may hold spaces. */
const PARENT = 1;
const OWN = [11, 12];
const REAPED = [13, 14];
const PRINTED_FILES = 40;

/** Processor seconds of this process and of its children that have ended. */
export function ownSeconds() {
  return sum(statOf('self'), [...OWN, ...REAPED]);
}

/** Processor seconds of the children of this process that have ended. */
export function endedChildrenSeconds() {
  return sum(statOf('self'), REAPED);
}

/** Processor seconds of a server process, of its children, and of those that have ended. */
export function serverSeconds(processId) {
  const server = statOf(processId);
  let seconds = sum(server, [...OWN, ...REAPED]);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(name);
    if (stat?.[PARENT] === String(processId)) seconds += sum(stat, [...OWN, ...REAPED]);
  }
  return seconds;
}

/** Adds a line to the log of the run, if there is one. */
export function logSeconds(line) {
  const log = process.env[PROCESSOR_LOG_VARIABLE];
  if (log !== undefined) appendFileSync(log, `${JSON.stringify(line)}\n`);
}

/** The most expensive files, then the sum. */
export function printSeconds(log, nodeSeconds) {
  const lines = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const files = lines
    .filter(({ file }) => file !== undefined)
    .sort((one, other) => other.seconds - one.seconds);
  const server = lines.find(({ server: seconds }) => seconds !== undefined)?.server ?? 0;
  for (const { file, seconds } of files.slice(0, PRINTED_FILES)) {
    process.stdout.write(`${seconds.toFixed(1).padStart(8)} s  ${file}\n`);
  }
  process.stdout.write(
    `Processor: ${(nodeSeconds + server).toFixed(0)} s, ${server.toFixed(0)} s of them PostgreSQL, ` +
      `in ${files.length} files (those above without PostgreSQL).\n`,
  );
}

function statOf(processId) {
  try {
    return readFileSync(`/proc/${processId}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

function sum(stat, fields) {
  return fields.reduce((seconds, field) => seconds + Number(stat?.[field] ?? 0) / TICKS_A_SECOND, 0);
}
