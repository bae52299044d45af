import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DestinationStream } from 'pino';

/**
 * How much may be buffered; lines beyond that are dropped. A reader that pauses for a moment loses nothing.
 */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** Lines are gathered for a moment: a write per request would cost more than the request itself. */
const GATHERED_BYTES = 32 * 1024;
const FLUSH_MS = 1000;

/** How long to wait before writing again to a pipe that accepts nothing. */
const RETRY_MS = 100;

export interface LogOutputOptions {
  /**
   * The file descriptor to write to; it is not closed. A pipe should not block, which Node ensures for its
   * own.
   */
  readonly fd: number;
  /** Receives one sentence when lines are dropped for the first time. */
  readonly onTrouble: (sentence: string) => void;
  readonly maxHeldBytes?: number;
}

/**
 * Writes log lines to a descriptor, and keeps the gateway running whatever happens to them: a full disk, a
 * reader that has gone, or one that no longer reads. Lines that cannot be written are dropped and counted;
 * when writing works again, a log line has their number.
 */
export class LogOutput implements DestinationStream {
  readonly #fd: number;
  readonly #maxHeldBytes: number;
  readonly #onTrouble: (sentence: string) => void;
  readonly #flushing: NodeJS.Timeout;
  readonly #onExit = () => this.#writeLast();
  #lines: string[] = [];
  #heldBytes = 0;
  #isWriting = false;
  /** Part of a line was written, and the rest never will be. */
  #isTorn = false;
  #hasReportedTrouble = false;
  #dropped = 0;
  #droppedUnreported = 0;

  constructor({ fd, onTrouble, maxHeldBytes = MAX_HELD_BYTES }: LogOutputOptions) {
    this.#fd = fd;
    this.#onTrouble = onTrouble;
    this.#maxHeldBytes = maxHeldBytes;
    this.#flushing = setInterval(() => void this.#flush(), FLUSH_MS).unref();
    process.on('exit', this.#onExit);
  }

  /** The number of lines that were dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#heldBytes + bytes > this.#maxHeldBytes) {
      this.#drop(1, 'its reader does not read');
      return;
    }
    this.#lines.push(line);
    this.#heldBytes += bytes;
    if (this.#heldBytes >= GATHERED_BYTES) void this.#flush();
  }

  /** Writes the buffered lines if they are accepted in time; nothing is written afterwards. */
  async close(withinMs: number): Promise<void> {
    const end = Date.now() + withinMs;
    void this.#flush();
    while (this.#heldBytes > 0 && Date.now() < end) await sleep(10);
    clearInterval(this.#flushing);
    process.off('exit', this.#onExit);
  }

  async #flush(): Promise<void> {
    if (this.#isWriting || this.#lines.length === 0) return;
    const count = this.#lines.length;
    const bytes = this.#heldBytes;
    const unreported = this.#droppedUnreported;
    this.#isWriting = true;
    const fault = await this.#write(Buffer.from(this.#takeHeld()));
    this.#isWriting = false;
    this.#heldBytes -= bytes;
    if (fault) this.#drop(count, fault.message);
    else this.#droppedUnreported -= unreported;
    if (!fault && this.#heldBytes >= GATHERED_BYTES) void this.#flush();
  }

  #takeHeld(): string {
    const missing = this.#droppedUnreported > 0 ? lineOfDropped(this.#droppedUnreported) : '';
    const text = `${this.#isTorn ? '\n' : ''}${missing}${this.#lines.join('')}`;
    this.#lines = [];
    return text;
  }

  /** Returns why not all of it was written. */
  async #write(text: Buffer): Promise<Error | undefined> {
    for (let rest = text; rest.length > 0; ) {
      const { fault, written } = await writeTo(this.#fd, rest);
      if (fault?.code === 'EAGAIN' || fault?.code === 'EBUSY')
        await sleep(RETRY_MS, undefined, { ref: false });
      else if (fault) return fault;
      rest = rest.subarray(written);
      if (written > 0) this.#isTorn = rest.length > 0;
    }
    return undefined;
  }

  #drop(lines: number, reason: string): void {
    this.#dropped += lines;
    this.#droppedUnreported += lines;
    if (this.#hasReportedTrouble) return;
    this.#hasReportedTrouble = true;
    this.#onTrouble(
      `the log cannot be written (${reason}); the gateway continues, and lines that cannot be written ` +
        'are dropped and counted',
    );
  }

  /**
   * The process is ending, perhaps by the fault that the last lines describe: write them synchronously or not
   * at all.
   */
  #writeLast(): void {
    if (this.#isWriting || this.#lines.length === 0) return;
    try {
      writeSync(this.#fd, this.#takeHeld());
    } catch {
      // There is nowhere left to report it.
    }
  }
}

function lineOfDropped(lines: number): string {
  const time = new Date().toISOString();
  const msg = 'lines of the log were dropped before this one';
  return `${JSON.stringify({ level: 'warn', time, event: 'logDropped', lines, msg })}\n`;
}

/** Writes what is accepted at present. */
async function writeTo(
  fd: number,
  bytes: Buffer,
): Promise<{ readonly fault: NodeJS.ErrnoException | null; readonly written: number }> {
  return await new Promise((resolve) => {
    write(fd, bytes, (fault, written) => resolve({ fault, written: fault ? 0 : written }));
  });
}
