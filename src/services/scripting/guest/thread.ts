/**
 * The guest thread: runs scripts one after the other, each in an interpreter of its own, and prepares the
 * next interpreter in the meantime.
 */
import { getPriority, setPriority } from 'node:os';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Guest } from './guest.js';
import {
  ANSWERED,
  BEATS,
  type CallOperation,
  type GuestLine,
  type GuestMessage,
  type GuestOutcome,
  type GuestSettings,
  type GuestStop,
  STOP,
  type StartMessage,
} from './guest-message.js';
import { findThreadNumber, openThreadClock } from './thread-clock.js';
import { installZonedDate } from './zoned-date.js';

/** The system's maximum. */
const HIGHEST_NICENESS = 19;
const FLUSH_AFTER_MS = 50;
const FLUSH_AFTER_LINES = 50;

const settings = workerData.settings as GuestSettings;
const answers = workerData.answers as MessagePort;
const setTimeZone = installZonedDate();
const threadClock = openThreadClock();
const threadNumber = findThreadNumber();
// On Linux this affects the single thread. The thread of a gateway with a raised niceness cannot have a lower
// one.
if (process.platform === 'linux') setPriority(Math.min(HIGHEST_NICENESS, getPriority() + settings.niceness));

let next = Guest.create(settings);
await announce();
parentPort?.on('message', async (start: StartMessage) => {
  const guest = await next;
  post({ kind: 'ended', outcome: runScript(guest, start) });
  next = Guest.create(settings);
  await announce();
});

async function announce(): Promise<void> {
  await next;
  post({ kind: 'ready', threadNumber });
}

function post(message: GuestMessage): void {
  parentPort?.postMessage(message);
}

function runScript(guest: Guest, start: StartMessage): GuestOutcome {
  setTimeZone(start.timeZone);
  const run = new RunningScript(start.shared);
  const { task, script: name, code, argumentsText } = start;
  const evaluated =
    task === 'check' ? guest.check(run, { name, code }) : guest.run(run, { name, code, argumentsText });
  run.flush();
  const { stoppedBy, cpuMs, hostCalls } = run;
  return {
    ...(stoppedBy !== undefined && { stoppedBy }),
    ...(evaluated.kind === 'error' && { error: evaluated.error }),
    ...(evaluated.kind === 'value' && evaluated.text !== undefined && { valueText: evaluated.text }),
    cpuMs,
    hostCalls,
    memoryBytes: guest.memoryBytes,
  };
}

/** Tracks the limits of a run, and ends it. */
class RunningScript {
  readonly #shared: Int32Array;
  readonly #startedAt = performance.now();
  readonly #cpuStart = threadClock?.() ?? 0;
  #waitedMs = 0;
  /** No need to ask the system before that much time was spent not waiting. */
  #checkAtMs = settings.cpuTimeMs;
  #outputBytes = 0;
  #outputLines = 0;
  #lines: GuestLine[] = [];
  #flushedAt = performance.now();
  hostCalls = 0;
  stoppedBy: GuestStop | undefined;

  constructor(shared: SharedArrayBuffer) {
    this.#shared = new Int32Array(shared);
  }

  get cpuMs(): number {
    return threadClock === undefined ? this.#ownMs : threadClock() - this.#cpuStart;
  }

  shouldStop(): boolean {
    Atomics.add(this.#shared, BEATS, 1);
    if (this.stoppedBy !== undefined) return true;
    if (Atomics.load(this.#shared, STOP) !== 0) return this.#stop('outside');
    if (this.#lines.length > 0 && performance.now() - this.#flushedAt > FLUSH_AFTER_MS) this.flush();
    if (this.#ownMs < this.#checkAtMs) return false;
    const leftMs = settings.cpuTimeMs - this.cpuMs;
    if (leftMs <= 0) return this.#stop('cpuTime');
    this.#checkAtMs = this.#ownMs + leftMs;
    return false;
  }

  call(operation: CallOperation, name: string, argumentsText: string): string {
    this.hostCalls += 1;
    if (this.hostCalls > settings.hostCalls) this.#stop('hostCalls');
    if (this.shouldStop()) throw new Error('the run has ended');
    this.flush();
    const startedAt = performance.now();
    Atomics.store(this.#shared, ANSWERED, 0);
    post({ kind: 'call', operation, name, argumentsText });
    // In a loop, because the wake-up of the previous answer may arrive during this wait.
    while (Atomics.load(this.#shared, ANSWERED) === 0) Atomics.wait(this.#shared, ANSWERED, 0);
    this.#waitedMs += performance.now() - startedAt;
    const received = receiveMessageOnPort(answers);
    return received?.message as string;
  }

  print(line: GuestLine): void {
    if (this.stoppedBy !== undefined) return;
    this.#outputLines += 1;
    this.#outputBytes += Buffer.byteLength(line.text);
    if (this.#outputLines > settings.outputLines) this.#stop('outputLines');
    else if (this.#outputBytes > settings.outputBytes) this.#stop('outputBytes');
    else this.#lines.push(line);
    if (this.#lines.length >= FLUSH_AFTER_LINES) this.flush();
  }

  flush(): void {
    this.#flushedAt = performance.now();
    if (this.#lines.length === 0) return;
    post({ kind: 'output', lines: this.#lines });
    this.#lines = [];
  }

  get #ownMs(): number {
    return performance.now() - this.#startedAt - this.#waitedMs;
  }

  /** Later actions of the script have no effect; the interpreter ends it at its next poll. */
  #stop(reason: GuestStop): true {
    this.stoppedBy ??= reason;
    return true;
  }
}
