/** The maintenance switch: while it is on, everything except health and metrics answers 503. */
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import type { Database } from '../../../store/database/database.js';
import { sql } from '../../../store/sql.js';

const CHANNEL = 'campus_settings';
const MAINTENANCE_SECONDS = 60;

export interface MaintenanceOptions {
  readonly database: Database;
  /** Whether the environment turned it on, regardless of the database. */
  readonly isForced: boolean;
}

/** Follows the setting `maintenance` of the instance on every gateway. Close it to stop listening. */
export class MaintenanceSwitch {
  readonly #options: MaintenanceOptions;
  readonly #listeners = new Set<(isOn: boolean) => void>();
  #isOn: boolean;
  #stopListening: () => Promise<void> = async () => {};

  private constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#isOn = options.isForced;
  }

  static async open(options: MaintenanceOptions): Promise<MaintenanceSwitch> {
    const maintenance = new MaintenanceSwitch(options);
    maintenance.#stopListening = await options.database.keepCurrent(CHANNEL, () => maintenance.#refresh());
    await maintenance.#refresh();
    return maintenance;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  onChange(listener: (isOn: boolean) => void): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#stopListening();
  }

  async #refresh(): Promise<void> {
    const { database, isForced } = this.#options;
    const rows = await database.query<{ isOn: boolean }>(
      sql`select value = 'true'::jsonb as "isOn" from settings where name = 'maintenance'`,
    );
    const isOn = isForced || rows[0]?.isOn === true;
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    for (const listener of this.#listeners) listener(isOn);
  }
}

/** Changes the setting and notifies every gateway. */
export async function setMaintenance(database: Pick<Database, 'query'>, state: 'on' | 'off'): Promise<void> {
  await database.query(sql`
    with written as (
      insert into settings (name, value, updated_at)
      values ('maintenance', to_jsonb(${state === 'on'}::boolean), now())
      on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at
      returning name
    )
    select pg_notify(campus_channel(${CHANNEL}), name)::text from written`);
}

/** @see decisions 4 */
export function useMaintenance(app: FastifyInstance, maintenance: { readonly isOn: boolean }): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!maintenance.isOn || request.routeOptions.config.isVital) return done();
    done(
      new ServiceError('MAINTENANCE', 'The service is down for maintenance; try again later.', {
        retryAfterSeconds: MAINTENANCE_SECONDS,
      }),
    );
  });
}
