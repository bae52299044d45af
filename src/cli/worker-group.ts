/**
 * Several processes that serve on one port: this one starts them, shares the port among them (Node's
 * cluster), adds up their figures, merges their logs, replaces dead ones and stops all. For the database,
 * each is a gateway of its own.
 */

import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, Registry } from 'prom-client';
import { unlessAborted } from '../base/process/unless-aborted.js';
import type { LogOutput } from '../gateway/server/observation/log-output.js';
import { addFigures, type FigureList } from '../gateway/server/observation/metrics.js';
import type { SharedFigures } from '../gateway/server/observation/metrics-server.js';
import type { Observe } from '../gateway/server/observation/observation.js';
import { StoppedBySignal } from './stop-signal.js';

interface WorkerGroupOptions {
  readonly count: number;
  /** Environment variables of the workers in addition to ours. */
  readonly environment: Readonly<Record<string, string>>;
  readonly output: LogOutput;
  readonly observe: Observe;
  /** How long a stop may take before the remaining workers are killed. */
  readonly stopWithinMs: number;
}

/** How a process ended: by itself with a code, or by a signal. */
interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker that could not start. One that ended by itself has printed the reason on standard error. */
export class WorkerFailed extends Error {
  readonly end: ProcessEnd;
  readonly exitCode: number;

  constructor(worker: number, end: ProcessEnd) {
    super(
      end.signal === null
        ? `worker ${worker} could not start`
        : `worker ${worker} was ended by ${end.signal} before it served`,
    );
    this.end = end;
    this.exitCode = end.code || 1;
  }

  /** A signal ended the worker, so it has printed no reason. */
  get isSilent(): boolean {
    return this.end.signal !== null;
  }
}

/** A place among the workers; a dead worker is replaced in it. */
interface Place {
  /** From 1; the first does the jobs of all. */
  readonly number: number;
  worker: Worker | undefined;
  /** Whether the worker takes requests: one that starts does not yet. */
  isServing: boolean;
  /** Deaths in a row, each soon after the start. */
  earlyDeaths: number;
  /** Heartbeats in a row that did not come. */
  missedBeats: number;
}

/** A worker that lives shorter has died of something that its successor will meet, too. */
const EARLY_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** A worker that misses this many heartbeats in a row hangs, and is ended. */
const MOST_MISSED_BEATS = 8;
/** A worker that hangs is left out of the figures. */
const FIGURES_WITHIN_MS = 2_000;

export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #places: readonly Place[];
  readonly #replacing = new Set<NodeJS.Timeout>();
  readonly #awaitedFigures = new Map<number, (figures: FigureList) => void>();
  /** The last figures of each living worker. */
  readonly #lastFigures = new Map<Worker, FigureList>();
  /** The counts of dead workers, so that no sum ever decreases. */
  #countedByDead: FigureList = [];
  #lastAsked = 0;
  #isStopping = false;
  readonly #beating: NodeJS.Timeout;
  readonly #own = new Registry();
  readonly #restarts = new Counter({
    name: 'campus_worker_restarts_total',
    help: 'Workers that ended and were replaced.',
    registers: [this.#own],
  });

  private constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      worker: undefined,
      isServing: false,
      earlyDeaths: 0,
      missedBeats: 0,
    }));
    this.#beating = setInterval(() => this.#endHungWorkers(), HEARTBEAT_MS);
    this.#beating.unref();
    const places = this.#places;
    new Gauge({
      name: 'campus_workers',
      help: 'Processes that serve.',
      registers: [this.#own],
      collect() {
        this.set(places.filter(({ isServing }) => isServing).length);
      },
    });
    new Counter({
      name: 'campus_log_lines_dropped_total',
      help:
        'Lines of the log that could not be written: a full disk, or a reader that has gone or reads ' +
        'no more.',
      registers: [this.#own],
      collect() {
        this.reset();
        this.inc(options.output.dropped);
      },
    });
  }

  /**
   * Starts the first worker, then all others, so that a failure to start is reported once.
   *
   * @throws WorkerFailed if the first ends before it serves, or if another one ends by itself before it
   *   serves; the reason of `stop`, once all workers have ended
   */
  static async start(
    options: WorkerGroupOptions,
    stop: AbortSignal,
  ): Promise<{ readonly group: WorkerGroup; readonly url: string }> {
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    const group = new WorkerGroup(options);
    try {
      return { group, url: await unlessAborted(group.#startAll(), stop) };
    } catch (fault) {
      await group.stop();
      throw fault;
    }
  }

  async #startAll(): Promise<string> {
    const [first, ...others] = this.#places;
    if (first === undefined) throw new Error('a group has at least one worker');
    const url = await this.#startIn(first);
    if (!this.#isStopping) await Promise.all(others.map((place) => this.#startBeside(place)));
    return url;
  }

  /**
   * Starts a worker while another one serves. If a signal ends the new worker, e.g. because memory ran out,
   * it is replaced, and the others keep serving.
   */
  async #startBeside(place: Place): Promise<void> {
    try {
      await this.#startIn(place);
    } catch (fault) {
      if (this.#isStopping || !(fault instanceof WorkerFailed && fault.isSilent)) throw fault;
      place.earlyDeaths += 1;
      this.#replace(place, fault.end);
    }
  }

  /**
   * Lets every worker finish its work, and kills those that do not end in time. Later calls wait, too.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#beating);
    for (const timer of this.#replacing) clearTimeout(timer);
    // Its output may be read to the end only after the process has gone.
    const ended = this.#workers().map((worker) => once(worker.process, 'close'));
    for (const worker of this.#workers()) order(worker, { kind: 'stop' });
    const late = setTimeout(() => {
      for (const worker of this.#workers()) worker.process.kill('SIGKILL');
    }, this.#options.stopWithinMs);
    await Promise.all(ended);
    clearTimeout(late);
  }

  /** Gives the address once the worker listens. @throws WorkerFailed when it ends before */
  #startIn(place: Place): Promise<string> {
    const { environment, output } = this.#options;
    const startedAt = Date.now();
    const worker = cluster.fork(environment);
    place.worker = worker;
    place.missedBeats = 0;
    const { stdout } = worker.process;
    // A line is written whole: two processes that write to one pipe would tear each other's lines.
    if (stdout) createInterface({ input: stdout }).on('line', (line) => output.write(`${line}\n`));
    return new Promise((resolve, reject) => {
      let hasListened = false;
      worker.on('message', (news: WorkerNews) => {
        switch (news.kind) {
          case 'alive':
            place.missedBeats = 0;
            return;
          case 'ready':
            // A worker that has not begun yet has opened nothing, so it can be killed.
            if (this.#isStopping) worker.process.kill('SIGKILL');
            else order(worker, { kind: 'begin', doesBackgroundWork: place.number === 1 });
            return;
          case 'listening':
            hasListened = true;
            place.isServing = true;
            resolve(news.url);
            return;
          case 'ownFigures':
            this.#lastFigures.set(worker, news.figures);
            this.#awaitedFigures.get(news.number)?.(news.figures);
            return;
          case 'requestFigures':
            void this.#answerFigures(worker, news.number);
            return;
        }
      });
      // A channel breaks when its worker dies, which the `exit` event reports.
      worker.on('error', () => {});
      worker.once('exit', (code, signal) => {
        place.worker = undefined;
        place.isServing = false;
        this.#keepCounts(worker);
        if (!hasListened) reject(new WorkerFailed(place.number, { code, signal }));
        // A worker that never served is not replaced here: its starter decides.
        if (hasListened && !this.#isStopping) {
          place.earlyDeaths = Date.now() - startedAt < EARLY_MS ? place.earlyDeaths + 1 : 0;
          this.#replace(place, { code, signal });
        }
      });
    });
  }

  /**
   * Counts the heartbeats missed by this process's own timer: after a pause of the whole machine, all workers
   * get the time to send one.
   */
  #endHungWorkers(): void {
    for (const place of this.#places) {
      const { number, worker } = place;
      if (worker === undefined) continue;
      place.missedBeats += 1;
      if (place.missedBeats !== MOST_MISSED_BEATS) continue;
      const silentMs = MOST_MISSED_BEATS * HEARTBEAT_MS;
      this.#options.observe({ kind: 'workerHung', worker: number, silentMs });
      worker.process.kill('SIGKILL');
    }
  }

  #replace(place: Place, end: ProcessEnd): void {
    // The first to die early may be the only one that serves yet, and may have died by chance.
    const waitMs =
      place.earlyDeaths <= 1 ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (place.earlyDeaths - 2));
    this.#restarts.inc();
    this.#options.observe({ kind: 'workerEnded', worker: place.number, ...end, replacedInMs: waitMs });
    const timer = setTimeout(() => {
      this.#replacing.delete(timer);
      this.#startIn(place).catch((fault: unknown) => {
        if (this.#isStopping) return;
        place.earlyDeaths += 1;
        this.#replace(place, fault instanceof WorkerFailed ? fault.end : { code: null, signal: null });
      });
    }, waitMs);
    this.#replacing.add(timer);
  }

  async #answerFigures(worker: Worker, number: number): Promise<void> {
    try {
      order(worker, { kind: 'figures', number, text: await this.#printFigures() });
    } catch (error) {
      this.#options.observe({ kind: 'backgroundFault', task: 'figures', error });
      order(worker, { kind: 'figures', number, text: '' });
    }
  }

  async #printFigures(): Promise<string> {
    const serving = this.#places.flatMap(({ worker, isServing }) => (isServing && worker ? [worker] : []));
    const lists = await Promise.all(serving.map((worker) => this.#requestFigures(worker)));
    const own = await this.#own.getMetricsAsJSON();
    return await addFigures([...lists, this.#countedByDead, own]).metrics();
  }

  async #requestFigures(worker: Worker): Promise<FigureList> {
    this.#lastAsked += 1;
    const number = this.#lastAsked;
    const reply = new Promise<FigureList>((resolve) => this.#awaitedFigures.set(number, resolve));
    order(worker, { kind: 'tellFigures', number });
    const figures = await Promise.race([reply, sleep(FIGURES_WITHIN_MS, undefined, { ref: false })]);
    this.#awaitedFigures.delete(number);
    // Keep the dead worker's last counts, so that sums never decrease.
    return figures ?? countsIn(this.#lastFigures.get(worker) ?? []);
  }

  #keepCounts(worker: Worker): void {
    const counts = countsIn(this.#lastFigures.get(worker) ?? []);
    this.#lastFigures.delete(worker);
    // Both lists are kept until they are added up.
    const both = [...this.#countedByDead, ...counts];
    this.#countedByDead = both;
    void addFigures([both])
      .getMetricsAsJSON()
      .then((added) => {
        // Another worker may have died meanwhile.
        if (this.#countedByDead === both) this.#countedByDead = added;
      });
  }

  #workers(): readonly Worker[] {
    return this.#places.flatMap(({ worker }) => worker ?? []);
  }
}

function order(worker: Worker, message: WorkerOrder): void {
  // A worker that is ending has no channel, and needs no orders.
  if (worker.isConnected()) worker.send(message, () => {});
}

/** The figures that only ever grow. */
function countsIn(figures: FigureList): FigureList {
  return figures.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

/** A message to a worker. */
type WorkerOrder =
  /** The answer to `ready`. */
  | { readonly kind: 'begin'; readonly doesBackgroundWork: boolean }
  /** Its figures are wanted, in an answer with this number. */
  | { readonly kind: 'tellFigures'; readonly number: number }
  /** The figures of all workers, in answer to `requestFigures` with this number. */
  | { readonly kind: 'figures'; readonly number: number; readonly text: string }
  | { readonly kind: 'stop' };

/** From a worker. */
type WorkerNews =
  /** It accepts orders from here on. */
  | { readonly kind: 'ready' }
  /** Sent regularly; a worker whose event loop is blocked sends nothing. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'ownFigures'; readonly number: number; readonly figures: FigureList }
  | { readonly kind: 'requestFigures'; readonly number: number };

/** How often a worker reports that it is alive. */
const HEARTBEAT_MS = 2_000;

export class WorkerProcess {
  /** Resolves when this process may start. */
  readonly begun: Promise<{ readonly doesBackgroundWork: boolean }>;
  /** Aborted, with a `StoppedBySignal`, when this process is to stop: by the first process or by SIGTERM. */
  readonly stop: AbortSignal;
  readonly #awaited = new Map<number, (text: string) => void>();
  #lastAsked = 0;
  #ownFigures: (() => Promise<FigureList>) | undefined;

  constructor() {
    // Ctrl-C reaches every process of a terminal; the first process stops the others.
    process.on('SIGINT', () => {});
    const stopping = new AbortController();
    const stop = () => stopping.abort(new StoppedBySignal('SIGTERM'));
    process.once('SIGTERM', stop);
    this.stop = stopping.signal;
    this.begun = new Promise((resolve) => {
      // A library may use the same channel, whose messages have no such kind.
      process.on('message', (order: WorkerOrder) => {
        if (order.kind === 'begin') resolve(order);
        else if (order.kind === 'stop') stop();
        else if (order.kind === 'tellFigures') void this.#sendFigures(order.number);
        else if (order.kind === 'figures') {
          this.#awaited.get(order.number)?.(order.text);
          this.#awaited.delete(order.number);
        }
      });
    });
    send({ kind: 'ready' });
    setInterval(() => send({ kind: 'alive' }), HEARTBEAT_MS).unref();
  }

  readonly sharedFigures: SharedFigures = {
    reportBy: (own) => {
      this.#ownFigures = own;
    },
    print: () => {
      this.#lastAsked += 1;
      const number = this.#lastAsked;
      return new Promise((resolve) => {
        this.#awaited.set(number, resolve);
        send({ kind: 'requestFigures', number });
      });
    },
  };

  tellListening(url: string): void {
    send({ kind: 'listening', url });
  }

  /** Lets this process end by itself, which the channel to the first one would prevent. */
  release(): void {
    process.channel?.unref();
  }

  async #sendFigures(number: number): Promise<void> {
    // Figures that cannot be read are left out of the sum, as those of a worker that hangs.
    const figures = await this.#ownFigures?.().catch(() => undefined);
    if (figures) send({ kind: 'ownFigures', number, figures });
  }
}

function send(news: WorkerNews): void {
  if (process.connected) process.send?.(news);
}
