/** The processor time of a thread, read by the thread itself or, if it does not respond, by the gateway. */
import { openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { tryTo } from '../../../base/errors.js';

/**
 * A clock of the calling thread's processor time, in milliseconds; `undefined` if the system has none
 * (anything but Linux). On a busy machine threads wait for a processor: by wall-clock time an innocent script
 * would exceed its limit.
 */
export function openThreadClock(): (() => number) | undefined {
  if (process.platform !== 'linux') return undefined;
  const file = tryTo(() => openSync('/proc/thread-self/schedstat', 'r'));
  if (file === undefined) return undefined;
  const buffer = Buffer.alloc(64);
  return () => toMilliseconds(buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)));
}

/**
 * The system's number of the calling thread, by which other threads read its clock; `undefined` if there is
 * none.
 */
export function findThreadNumber(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  // `<process>/task/<thread>`
  const number = Number(tryTo(() => readlinkSync('/proc/thread-self').split('/').at(-1)));
  return Number.isInteger(number) ? number : undefined;
}

/** The processor time of another thread of this process; `undefined` if it has ended. */
export function readThreadClock(threadNumber: number): number | undefined {
  return tryTo(() => toMilliseconds(readFileSync(`/proc/self/task/${threadNumber}/schedstat`, 'latin1')));
}

/** The first number is nanoseconds on a processor. */
function toMilliseconds(schedstat: string): number {
  return Number.parseInt(schedstat, 10) / 1e6;
}
