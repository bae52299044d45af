/** Finds when schedules are due, and how far they have been looked at. */
import { Cron } from 'croner';
import { Prisma } from '../../generated/prisma/client.js';
import type { Transaction } from '../../store/database/database.js';

const SETTING = 'scriptScheduleLookedAt';
/** What was due while no gateway ran for longer than this is let be. */
const LONGEST_GAP_MS = 24 * 3_600_000;
const MOST_DUE_TIMES = 1_500;

/**
 * The instants of a schedule, `after < instant <= until`, by the clock of a time zone. An hour that the
 * clocks skip runs when they have been put forward; one they go through twice runs once.
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
 * Notes that all schedules are looked at up to now, and says up to when they were; the row is locked until
 * the transaction ends.
 */
export async function moveClock(within: Transaction, now: Date): Promise<Date> {
  const earliest = new Date(now.getTime() - LONGEST_GAP_MS);
  const [row] = await within.query<{ at: string | null }>(Prisma.sql`
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
  // The very first look: nothing was due before there was a clock.
  if (row === undefined || row.at === null) return now;
  const last = new Date(row.at);
  return last < earliest ? earliest : last;
}
