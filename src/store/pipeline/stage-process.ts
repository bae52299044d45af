/**
 * A process that runs stages for one reading of one pipeline. An expression of a few lines can make a list of
 * a billion, or one that doubles forty times: here that ends the process, and nobody else notices. A thread
 * would not do: V8 ends the whole gateway when one list alone goes past the heap of a thread.
 */
import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../errors.js';
import { printExactJson } from '../../json.js';
import type { Stage } from '../../languages/mongo/mongo-pipeline.js';
import type { StageAnswer, StageQuestion } from './stage-question.js';

export interface StageLimits {
  /** The memory for documents as JSON text: what a process is given and gives at once. */
  readonly memoryBytes: number;
  /** The time for one batch, without the start of the process, which a busy machine makes long. */
  readonly timeoutMs: number;
}

/**
 * Compiled, the module of the process is beside this one; from the sources, Node is told how to read
 * TypeScript.
 */
const EXTENSION = path.extname(fileURLToPath(import.meta.url));
const ENTRY = new URL(`./stage-process-entry${EXTENSION}`, import.meta.url);
const EXEC_ARGUMENTS =
  EXTENSION === '.ts' ? ['--import', new URL('../../../test/typescript.mjs', import.meta.url).href] : [];
const MEBIBYTE = 1024 * 1024;
/** Objects take some times the memory of their text, and there are those of before and after a stage. */
const HEAP_PER_BYTE = 10;
const HEAP_AT_LEAST_MB = 64;

/** What becomes of one batch may be larger than what was in it. */
const LEAST_LENGTH = 8 * MEBIBYTE;

export class StageProcess {
  readonly #process: ChildProcess;
  readonly #stages: readonly Stage[];
  readonly #limits: StageLimits;
  /** Resolves when the process takes questions, or has gone. */
  readonly #ready: Promise<void>;
  #isGone = false;

  /** Starts. The caller ends it. `onGone` is called once, when the process is there no more. */
  constructor(stages: readonly Stage[], limits: StageLimits, onGone: () => void) {
    this.#limits = limits;
    this.#stages = stages;
    const heap = HEAP_AT_LEAST_MB + Math.ceil((limits.memoryBytes * HEAP_PER_BYTE) / MEBIBYTE);
    this.#process = fork(ENTRY, {
      execArgv: [`--max-old-space-size=${heap}`, ...EXEC_ARGUMENTS],
      // The secrets of the gateway are in its environment.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // It could not be started, or not be told: it has gone either way.
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
   * What the stages make of the documents, as JSON text; one call at a time.
   *
   * @throws MALFORMED_FILTER for what a stage does not take, LIMIT_EXCEEDED beyond the limits, the reason of
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

  /** `undefined` where the process has gone. */
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
