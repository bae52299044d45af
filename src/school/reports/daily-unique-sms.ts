import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { faultsIn, groupsOf, jsonListOf } from './engine/report-parts.js';
import { onDate } from './shared/common-parameters.js';
import { isWithinDays } from './shared/record-parts.js';

const SmsStatusCount = rowType('SmsStatusCount', 'Messages in one state.', {
  status: column.text('queued, sent, delivered or failed.'),
  messages: column.whole('Number of messages.'),
});

const UniqueSms = rowType('UniqueSms', 'One text sent to one number, once or more.', {
  to: column.text('The number it was sent to.'),
  recipient: column.nullable.text('Who it was sent to.'),
  text: column.text('The text.'),
  category: column.nullable.text('fee, absence, notice or other.'),
  messages: column.whole('Number of times it was sent.'),
  firstAt: column.instant('First time.'),
  lastAt: column.instant('Last time.'),
  statuses: column.rows(SmsStatusCount, 'By state.'),
  segments: column.whole('Segments of all times together.'),
});

const SmsCategoryCount = rowType('SmsCategoryCount', 'Messages of one category.', {
  category: column.text('fee, absence, notice or other.'),
  messages: column.whole('Number of messages.'),
  uniqueMessages: column.whole('Number of different texts to different numbers.'),
  segments: column.whole('Segments.'),
});

const UniqueSmsTotals = rowType('UniqueSmsTotals', 'All messages of the day.', {
  sent: column.whole('Messages of the day, failed ones included.'),
  uniqueMessages: column.whole('Different texts to different numbers.'),
  uniqueRecipients: column.whole('Different numbers.'),
  failed: column.whole('Messages that failed.'),
  segments: column.whole('Segments of all messages.'),
  categories: column.rows(SmsCategoryCount, 'By category.'),
});

/**
 * The text messages of a day, the same text to the same number counted as one.
 *
 * Segments follow from the text: up to 160 characters of the GSM 7-bit alphabet are one segment, longer texts
 * 153 a segment (characters of its extension table count twice); any other text 70, or 67 a segment, in
 * UTF-16 units.
 *
 * @see reports 6
 */
export const dailyUniqueSms = defineReport({
  name: 'daily-unique-sms',
  title: 'Daily unique SMS sent',
  description:
    'Text messages of a day, the same text to the same number once: how often, in which state, how ' +
    'many segments.',
  routes: [{ method: 'GET', path: '/dailyuniquesms.svc' }],
  parameters: { date: onDate },
  reads: ['sms_log'],
  roles: ['clerk', 'accountant'],
  row: UniqueSms,
  totals: UniqueSmsTotals,
  example: { date: '2026-07-06' },
  parts: ({ date }, { domain, timeZone }) => ({
    ctes: sql`
messages as materialized (
  select
    r.id, r.data->>'created_on' as at, r.data->>'to' as number, r.data->>'text' as text,
      r.data->'recipient'->>'label' as recipient,
    coalesce(r.data->>'category', 'other') as category, coalesce(r.data->>'status', 'unknown') as status,
    case
      when jsonb_typeof(r.data->'to') is distinct from 'string' then 'to is not a number'
      when jsonb_typeof(r.data->'text') is distinct from 'string' then 'text is not a text'
    end as fault
  from records r
  where ${liveRecordsIn(domain, 'sms_log')}
    and ${isWithinDays("r.data->'created_on'", [date, date], timeZone)}
),
measured as (
  select
    text,
    text ~ '^[]@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&''()*+,./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\\\[~|€\\n\\r\\f-]*$'
      as is_gsm,
    length(text) + length(regexp_replace(text, '[^]^{}\\\\[~|€\\f]', '', 'g')) as septets,
    length(text) + length(regexp_replace(text, '[\\u0001-\\uffff]', '', 'g')) as units
  from (select distinct text from messages where fault is null) as different
),
sized as (
  select text, greatest(1, case
    when is_gsm and septets <= 160 then 1
    when is_gsm then ceil(septets / 153.0)
    when units <= 70 then 1
    else ceil(units / 67.0)
  end)::int as segments
  from measured
),
counted as (
  select m.number, m.text, m.status, count(*) as messages, min(m.at) as first_at, max(m.at) as last_at,
    max(m.recipient) as recipient,
    min(m.category) as category, sum(s.segments) as segments
  from messages m
  join sized s on s.text = m.text
  where m.fault is null
  group by m.number, m.text, m.status
),
unique_messages as materialized (
  select
    number, text, max(recipient) as recipient, min(category) as category, sum(messages) as messages,
      min(first_at) as first_at,
    max(last_at) as last_at, sum(segments) as segments,
    ${jsonListOf(SmsStatusCount, sql`status`)} as statuses,
    coalesce(sum(messages) filter (where status = 'failed'), 0) as failed,
    row_number() over (order by min(first_at), number, text) as position
  from counted
  group by number, text
)`,
    rows: {
      key: sql`md5(number || ' ' || text)`,
      columns: {
        to: sql`number`,
      },
      from: sql`from unique_messages`,
    },
    totals: {
      columns: {
        sent: sql`sum(messages)`,
        uniqueMessages: sql`count(*)`,
        uniqueRecipients: sql`count(distinct number)`,
        categories: groupsOf(
          SmsCategoryCount,
          { from: 'unique_messages', by: ['category'] },
          { uniqueMessages: sql`count(*)` },
        ),
      },
      over: sql`from unique_messages`,
    },
    leftOut: [faultsIn('messages', 'sms_log')],
  }),
});
