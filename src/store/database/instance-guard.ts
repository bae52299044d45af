import { ServiceError, unavailable } from '../../base/errors.js';

/**
 * An expression that identifies the tables of an instance. It changes when they are made anew, e.g. when the
 * database is dropped and restored under the same name, and not when a standby takes over.
 */
export const INSTANCE_SQL =
  `concat_ws('/', to_regclass('records')::oid, ` + `to_regclass('campus_jobs._private_tasks')::oid)`;

/**
 * Notices that the database was replaced by another one under a running gateway, whose memory (the numbers of
 * tasks, the catalog, users) is about the one before.
 */
export class InstanceGuard {
  #expected: string | undefined;
  #replaced: ServiceError | undefined;
  readonly #listeners: ((fault: ServiceError) => void)[] = [];

  /** From now on, only this instance is right. */
  pin(instance: string): void {
    this.#expected = instance;
  }

  /** Calls the listener once when the database turns out to be replaced. */
  onReplaced(listener: (fault: ServiceError) => void): void {
    if (this.#replaced !== undefined) listener(this.#replaced);
    this.#listeners.push(listener);
  }

  /** @throws UNAVAILABLE if this is another instance than the pinned one */
  check(instance: string): void {
    if (this.#expected === undefined || instance === this.#expected) return;
    if (this.#replaced === undefined) {
      this.#replaced = unavailable(
        'The database was dropped and made anew while the gateway ran. Start the gateway again to use the ' +
          'new one.',
      );
      for (const listener of this.#listeners) listener(this.#replaced);
    }
    throw this.#replaced;
  }
}
