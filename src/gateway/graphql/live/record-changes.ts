/**
 * Subscriptions to records. A changed record is read again under the current rights of each subscriber, and
 * sent to those who may see it. Subscribers with the same caller and selection share one read, and a batch of
 * changes one statement.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import type { Filter } from '../../../base/model/filter.js';
import { queryOf } from '../../../base/model/record-query.js';
import type { Scope } from '../../../base/model/scope.js';
import { Batcher } from '../../../base/process/batcher.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import type { ChangeFeed, RecordChange } from '../../../store/changes/commit-follower.js';
import type { ChangedRecord } from '../../../store/reading/changed-since.js';
import type { RecordStore } from '../../../store/record-store.js';
import { type ChangeShape, printChange } from './change-shape.js';
import type { EventQueue } from './event-queue.js';
import type { LiveCaller } from './live-connection.js';

export interface ChangeSubscription {
  readonly caller: LiveCaller;
  readonly collection: string;
  readonly filter: Filter;
  readonly operations: ReadonlySet<RecordChange['operation']>;
  readonly shape: ChangeShape;
  readonly queue: EventQueue;
}

const BATCH = 100;
/** Unread changes of one collection; with more, as from a bulk load, subscriptions end. */
const MAX_WAITING = 100_000;
const RETRY_MS = 500;

export class RecordChanges {
  readonly #feed: ChangeFeed;
  readonly #store: Pick<RecordStore, 'find'>;
  /** By domain and collection. */
  readonly #watches = new Map<string, CollectionWatch>();
  /** Returns the function that stops following; set while there is a subscription. */
  #following: Promise<() => void> | undefined;

  constructor(options: { readonly feed: ChangeFeed; readonly store: Pick<RecordStore, 'find'> }) {
    this.#feed = options.feed;
    this.#store = options.store;
  }

  /**
   * Sends the queue every change committed from now on that the caller may see, until the queue ends. A
   * removal is judged by the last state of the record. The queue fails if the caller may no longer read the
   * collection.
   *
   * @throws FORBIDDEN, NOT_FOUND, GONE, MALFORMED_FILTER, INVALID_VALUE as `RecordStore.find` does
   */
  async subscribe(scope: Scope, subscription: ChangeSubscription): Promise<void> {
    const { collection, filter, queue } = subscription;
    this.#store.find(scope, { ...queryOf(collection), filter });
    const key = keyOf(scope.domain.id, collection);
    const watch = getOrMake(this.#watches, key, () => new CollectionWatch(this.#store, collection));
    const leave = watch.join(subscription);
    queue.onEnd(() => {
      leave();
      if (watch.isEmpty && this.#watches.get(key) === watch) this.#watches.delete(key);
      if (this.#watches.size > 0) return;
      void this.#following?.then((stop) => stop());
      this.#following = undefined;
    });
    this.#following ??= this.#feed.follow((changes) => this.#hear(changes));
    await this.#following;
  }

  #hear(changes: readonly RecordChange[]): void {
    for (const change of changes) this.#watches.get(keyOf(change.domainId, change.collection))?.add(change);
  }
}

/** The subscribers to one collection of one domain. */
class CollectionWatch {
  readonly #store: Pick<RecordStore, 'find'>;
  readonly #collection: string;
  readonly #subscriptions = new Set<ChangeSubscription>();
  readonly #work: Batcher<RecordChange>;
  readonly #numbers = new ObjectNumbers();

  constructor(store: Pick<RecordStore, 'find'>, collection: string) {
    this.#store = store;
    this.#collection = collection;
    this.#work = new Batcher({
      work: (batch) => this.#give(batch, [...this.#subscriptions]),
      takeNext: (waiting) => waiting.splice(0, BATCH),
      concurrency: 1,
      maxWaiting: MAX_WAITING,
      onOverflow: () => {
        for (const { queue } of [...this.#subscriptions]) queue.fail(tooManyChanges(collection));
      },
    });
  }

  get isEmpty(): boolean {
    return this.#subscriptions.size === 0;
  }

  join(subscription: ChangeSubscription): () => void {
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
      if (this.isEmpty) this.#work.clear();
    };
  }

  add(change: RecordChange): void {
    this.#work.add(change);
  }

  /**
   * Changes that cannot be read while the database is down are read when it is back, under the rights of that
   * time.
   */
  async #give(batch: readonly RecordChange[], subscriptions: readonly ChangeSubscription[]): Promise<void> {
    for (let waiting = subscriptions; waiting.length > 0; ) {
      const groups = await groupByRead(waiting, this.#numbers);
      const results = await Promise.all(groups.map((group) => this.#giveGroup(batch, group)));
      waiting = results.flat().filter(({ queue }) => queue.isOpen);
      if (waiting.length > 0) await sleep(RETRY_MS);
    }
  }

  /** Returns the subscriptions for which the read must be retried. */
  async #giveGroup(
    batch: readonly RecordChange[],
    { scope, subscriptions }: ReadGroup,
  ): Promise<readonly ChangeSubscription[]> {
    const [first] = subscriptions;
    if (first === undefined) return [];
    if (scope === undefined) return subscriptions;
    const wanted = withoutRepeated(
      batch.filter(({ operation }) => subscriptions.some(({ operations }) => operations.has(operation))),
    );
    if (wanted.length === 0) return [];
    try {
      const { filter, shape } = first;
      const set = this.#store.find(scope, { ...queryOf(this.#collection), filter });
      const ids = [...new Set(wanted.map(({ id }) => id))];
      const seen = new Map((await set.printChanged(ids, shape.selections)).map((one) => [one.id, one]));
      for (const change of wanted) sendChange(change, seen.get(change.id), subscriptions);
      return [];
    } catch (error) {
      if (isOutage(error)) return subscriptions;
      for (const { queue } of subscriptions) queue.fail(error);
      return [];
    }
  }
}

function sendChange(
  change: RecordChange,
  record: ChangedRecord | undefined,
  subscriptions: readonly ChangeSubscription[],
): void {
  const [first] = subscriptions;
  // The change is not for them; or the record was removed meanwhile, which is a later change.
  if (!first || !record || record.isRemoved !== (change.operation === 'deleted')) return;
  const event = printChange(first.shape, change, record.isRemoved ? undefined : record.texts);
  for (const { operations, queue } of subscriptions) {
    if (operations.has(change.operation)) queue.push(event);
  }
}

/**
 * Subscribers served by one statement: with the same principal, domain, filter and selection. `scope` is
 * absent while it cannot be determined.
 */
interface ReadGroup {
  readonly scope: Scope | undefined;
  readonly subscriptions: ChangeSubscription[];
}

async function groupByRead(
  subscriptions: readonly ChangeSubscription[],
  numbers: ObjectNumbers,
): Promise<readonly ReadGroup[]> {
  const groups = new Map<string, ReadGroup>();
  const scopes = await Promise.all(subscriptions.map(scopeOf));
  for (const [index, subscription] of subscriptions.entries()) {
    const scope = scopes[index];
    if (scope === 'refused') continue;
    const key = scope === undefined ? '' : readKey(scope, subscription, numbers);
    const group = groups.get(key) ?? { scope, subscriptions: [] };
    groups.set(key, group);
    group.subscriptions.push(subscription);
  }
  return [...groups.values()];
}

async function scopeOf({ caller, queue }: ChangeSubscription): Promise<Scope | undefined | 'refused'> {
  try {
    return await caller.scope();
  } catch (error) {
    if (isOutage(error)) return undefined;
    queue.fail(error);
    return 'refused';
  }
}

function readKey(
  { principal, domain }: Scope,
  { filter, shape }: ChangeSubscription,
  numbers: ObjectNumbers,
): string {
  const reader = `${numbers.of(principal)} ${domain.id} ${domain.timeZone}`;
  return `${reader} ${numbers.of(shape)} ${JSON.stringify(filter)}`;
}

/** Numbers objects by identity for as long as they live. */
class ObjectNumbers {
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  of(object: object): number {
    return getOrMake(this.#numbers, object, () => ++this.#last);
  }
}

/** Keeps only the last of several updates of a record: each would read the same current record. */
function withoutRepeated(changes: readonly RecordChange[]): readonly RecordChange[] {
  const last = new Map(changes.map((change) => [`${change.operation} ${change.id}`, change]));
  return changes.filter((change) => last.get(`${change.operation} ${change.id}`) === change);
}

function isOutage(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'UNAVAILABLE';
}

function tooManyChanges(collection: string): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `More than ${MAX_WAITING} records of ${collection} changed at once; read them, and subscribe again.`,
  );
}

/** Neither part may contain a line feed. */
function keyOf(domainId: string, collection: string): string {
  return `${domainId}\n${collection}`;
}
