/** Computes when schedules are due, and records how far they have been processed. */
import { Cron } from 'croner';
import type { Transaction } from '../../../store/database/queryable.js';
import { sql } from '../../../store/sql.js';

const SETTING = 'scriptScheduleLookedAt';
/** Runs missed while no gateway was up for longer than this are skipped. */
const LONGEST_GAP_MS = 24 * 3_600_000;
const MOST_DUE_TIMES = 1_500;
const MINUTE_MS = 60_000;

/**
 * The instants of a schedule, `after < instant <= until`, in a time zone. A run in an hour that the clocks
 * skip happens after the change; one in an hour that occurs twice happens once.
 */
export function dueTimes(
  schedule: string,
  span: { readonly timeZone: string; readonly after: Date; readonly until: Date },
): readonly Date[] {
  const cron = new Cron(schedule, { paused: true, timezone: span.timeZone });
  const times: Date[] = [];
  for (let next = cron.nextRun(span.after); next !== null && next <= span.until; next = cron.nextRun(next)) {
    times.push(next);
    if (times.length === MOST_DUE_TIMES) break;
  }
  return times;
}

/**
 * Records that all schedules are processed up to now, and returns the previous time; the row stays locked
 * until the transaction ends.
 */
export async function moveClock(within: Transaction, now: Date): Promise<Date> {
  const earliest = new Date(now.getTime() - LONGEST_GAP_MS);
  const [row] = await within.query<{ at: string | null }>(sql`
    with last as (
      select value #>> '{}' as at
      from settings
      where name = ${SETTING}
      for update
    )
    insert into settings (name, value, updated_at)
    select ${SETTING}, to_jsonb(greatest(${now.toISOString()}, (select at from last))), now()
    on conflict (name) do update
    set value = excluded.value, updated_at = now()
    returning (select at from last)`);
  // At the first look, all that may be due is what became due while the job of this minute waited.
  if (row === undefined || row.at === null) return new Date(now.getTime() - MINUTE_MS);
  const last = new Date(row.at);
  return last < earliest ? earliest : last;
}
