import type pg from 'pg';

/**
 * The settings that the driver relies on: a database or role may have other defaults. They are
 * set by a statement, because poolers refuse them as startup options.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  // Prisma's adapter writes instants without an offset.
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '3',
  standard_conforming_strings: 'on',
};

/** Sets them on a connection that belongs to none of the gateway's pools. */
export async function setSession(client: pg.ClientBase): Promise<void> {
  const settings = Object.entries(SESSION_SETTINGS);
  await client.query(`select ${assignments(settings)}`, settings.flat());
}

/** Expressions that assign the settings, whose names and values are the parameters from $1 on. */
export function assignments(settings: readonly unknown[]): string {
  return settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, false)`).join(', ');
}
