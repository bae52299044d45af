/**
 * How much processor time a thread has had: asked by the thread itself, and by the gateway of a thread that
 * does not answer.
 */
import { openSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/**
 * A clock of the calling thread, in milliseconds; `undefined` where the system has none (anything but Linux).
 * On a busy machine a thread waits for its turn: by the clock on the wall an innocent script would have used
 * up its time.
 */
export function openThreadClock(): (() => number) | undefined {
  if (process.platform !== 'linux') return undefined;
  let file: number;
  try {
    file = openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
  const buffer = Buffer.alloc(64);
  return () => toMilliseconds(buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)));
}

/**
 * The system's number of the calling thread, by which others of the process read its clock; `undefined` where
 * there is no such clock.
 */
export function findThreadNumber(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    // `<process>/task/<thread>`
    const number = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    return Number.isInteger(number) ? number : undefined;
  } catch {
    return undefined;
  }
}

/** The processor time of another thread of this process; `undefined` when it has ended. */
export function readThreadClock(threadNumber: number): number | undefined {
  try {
    return toMilliseconds(readFileSync(`/proc/self/task/${threadNumber}/schedstat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Nanoseconds on a processor come first. */
function toMilliseconds(schedstat: string): number {
  return Number.parseInt(schedstat, 10) / 1e6;
}
