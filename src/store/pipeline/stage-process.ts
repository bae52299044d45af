/**
 * A process that runs stages for one reading of one pipeline. An expression of a few lines can build a list
 * of a billion elements. Here that ends this process alone. A thread does not isolate it: V8 ends the whole
 * gateway if a single list exceeds the heap of a thread.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { ServiceError } from '../../errors.js';
import { printExactJson } from '../../json.js';
import type { Stage } from '../../languages/mongo/mongo-pipeline.js';
import { threadModule } from '../../thread-module.js';
import type { StageAnswer, StageQuestion } from './stage-question.js';

export interface StageLimits {
  /** The most JSON text, in bytes, that one batch may send to the process or return from it. */
  readonly memoryBytes: number;
  /**
   * The most time for one batch. It excludes the start of the process, which takes longer on a busy machine.
   */
  readonly timeoutMs: number;
}

const MEBIBYTE = 1024 * 1024;
/**
 * Objects take several times the memory of their text, and the documents before and after a stage exist at
 * the same time.
 */
const HEAP_PER_BYTE = 10;
const HEAP_AT_LEAST_MB = 64;

/** The result of a batch may be larger than the batch. */
const LEAST_LENGTH = 8 * MEBIBYTE;

export class StageProcess {
  readonly #process: ChildProcess;
  readonly #stages: readonly Stage[];
  readonly #limits: StageLimits;
  /** Resolves when the process accepts questions, or has exited. */
  readonly #ready: Promise<void>;
  #isGone = false;

  /** Starts the process. The caller must end it. `onGone` is called once, when the process has exited. */
  constructor(stages: readonly Stage[], limits: StageLimits, onGone: () => void) {
    this.#limits = limits;
    this.#stages = stages;
    const heap = HEAP_AT_LEAST_MB + Math.ceil((limits.memoryBytes * HEAP_PER_BYTE) / MEBIBYTE);
    const { entry, execArgv } = threadModule('store/pipeline/stage-process-entry');
    this.#process = fork(entry, {
      execArgv: [`--max-old-space-size=${heap}`, ...execArgv],
      // The environment of the gateway holds its secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // The process did not start or did not receive the message. Either way it is of no more use.
    this.#process.on('error', () => this.#process.kill('SIGKILL'));
    this.#ready = new Promise((resolve) => {
      this.#process.once('message', () => resolve());
      this.#process.once('close', () => {
        this.#isGone = true;
        onGone();
        resolve();
      });
    });
  }

  /**
   * Returns the result of the stages as JSON text. Callers make one call at a time.
   *
   * @throws MALFORMED_FILTER if a stage rejects a document, LIMIT_EXCEEDED beyond the limits, the reason of
   * the signal
   */
  async run(documents: readonly string[], signal: AbortSignal | undefined): Promise<readonly string[]> {
    signal?.throwIfAborted();
    const answer = await this.#ask(documents, signal);
    signal?.throwIfAborted();
    switch (answer?.kind) {
      case 'documents':
        return answer.documents;
      case 'refused': {
        const detail = `${answer.stage}: ${answer.reason}`;
        throw new ServiceError('MALFORMED_FILTER', detail, { errors: [{ detail, parameter: 'pipeline' }] });
      }
      default:
        throw this.#tooMuch(answer === undefined ? 'time or memory' : 'bytes');
    }
  }

  end(): void {
    this.#process.kill('SIGKILL');
  }

  /** `undefined` if the process has exited. */
  async #ask(
    documents: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<StageAnswer | undefined> {
    const stop = () => this.end();
    signal?.addEventListener('abort', stop, { once: true });
    await this.#ready;
    if (this.#isGone) {
      signal?.removeEventListener('abort', stop);
      return undefined;
    }
    const question: StageQuestion = {
      stages: this.#stages.map(({ source }) => printExactJson(source)),
      maxLength: Math.max(this.#limits.memoryBytes, LEAST_LENGTH),
      documents,
    };
    return await new Promise((resolve) => {
      const finish = (answer: StageAnswer | undefined) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        this.#process.off('message', finish);
        this.#process.off('close', gone);
        resolve(answer);
      };
      const gone = () => finish(undefined);
      const timer = setTimeout(stop, this.#limits.timeoutMs);
      this.#process.on('message', finish);
      this.#process.on('close', gone);
      this.#process.send(question, () => {});
    });
  }

  #tooMuch(what: string): ServiceError {
    const names = this.#stages.map(({ name }) => name).join(', ');
    const detail =
      `${names}: the stages take more ${what} than is allowed for what the database does not compute; ` +
      'let them make less of fewer documents.';
    return new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail, parameter: 'pipeline' }] });
  }
}
