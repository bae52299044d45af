import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { FeeHeadAmount, PaymentTypeAmount } from './daily-fee-collection.js';
import * as column from './engine/columns.js';
import { type Day, dayType, rollbackBasis } from './engine/parameter-types.js';
import { defaulted, optional, parameterError } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { endOf, startOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { checkRange } from './shared/common-parameters.js';
import { byFeeHead, feeHeadPlaces } from './shared/fee-heads.js';

@column.rowType('RolledBackReceipt', 'A receipt that was rolled back.')
class RolledBackReceipt {
  @column.text('Receipt number.') readonly receiptNo!: string;
  @column.instant('When it was written.') readonly date!: string;
  @column.text('`_id` of the student.', { nullable: true }) readonly studentId!: string | null;
  @column.text('Name of the student.', { nullable: true }) readonly student!: string | null;
  @column.text('Class on the receipt.', { nullable: true }) readonly class!: string | null;
  @column.text('Section on the receipt.', { nullable: true }) readonly section!: string | null;
  @column.rows(() => FeeHeadAmount, 'By fee head.', { kind: 'spread', label: 'feeHead', value: 'amount' })
  readonly heads!: readonly FeeHeadAmount[];
  @column.money('Fines.') readonly fine!: string;
  @column.money('Total of the receipt.') readonly total!: string;
  @column.text('cash, cheque, card or neft.', { nullable: true }) readonly paymentType!: string | null;
  @column.text('Who collected it.', { nullable: true }) readonly collectedBy!: string | null;
  @column.instant('When it was rolled back.') readonly rolledBackAt!: string;
  @column.text('Who rolled it back.', { nullable: true }) readonly rolledBackBy!: string | null;
  @column.text('Why.', { nullable: true }) readonly reason!: string | null;
  @column.text('entry_error, bounce, refund or duplicate.', { nullable: true }) readonly type!: string | null;
  @column.text('Number of the receipt that replaces it.', { nullable: true }) readonly replacement!:
    | string
    | null;
}

@column.rowType('RollbackTypeAmount', 'Receipts rolled back for one kind of reason.')
class RollbackTypeAmount {
  @column.text('entry_error, bounce, refund or duplicate.') readonly type!: string;
  @column.whole('How many receipts.') readonly receipts!: number;
  @column.money('Their totals.') readonly amount!: string;
}

@column.rowType('RolledBackReceiptTotals', 'All receipts rolled back.')
class RolledBackReceiptTotals {
  @column.whole('How many receipts.') readonly receipts!: number;
  @column.rows(() => FeeHeadAmount, 'By fee head.') readonly heads!: readonly FeeHeadAmount[];
  @column.money('Fines.') readonly fine!: string;
  @column.money('Totals of the receipts.') readonly total!: string;
  @column.rows(() => RollbackTypeAmount, 'By kind of reason.') readonly types!: readonly RollbackTypeAmount[];
  @column.rows(() => PaymentTypeAmount, 'By way of paying.')
  readonly paymentTypes!: readonly PaymentTypeAmount[];
}

interface Days {
  readonly date: Day | undefined;
  readonly from: Day | undefined;
  readonly to: Day | undefined;
}

/** Either one day, or a range; without any, today. */
function daysOf({ date, from, to }: Days, today: Day): { readonly first: Day; readonly last: Day } {
  if (date !== undefined && (from !== undefined || to !== undefined)) {
    throw parameterError('date', 'does not go with from and to; expected either', {
      expected: 'date, or from and to',
      sent: date,
    });
  }
  if ((from === undefined) !== (to === undefined)) {
    const missing = from === undefined ? 'from' : 'to';
    throw parameterError(missing, 'is missing; expected from and to together', {
      expected: 'from and to together',
    });
  }
  if (from === undefined || to === undefined) return { first: date ?? today, last: date ?? today };
  const range = checkRange(
    { name: 'from', value: from },
    { name: 'to', value: to },
    { days: 366, said: 'a year' },
  );
  return { first: range.from, last: range.to };
}

/**
 * Receipts rolled back on a day or in a range of days; or, by basis RECEIPT, receipts of those days that were
 * rolled back since.
 *
 * @see reports 7, decisions 8
 */
export const rolledBackReceipts = defineReport({
  name: 'rolled-back-receipts',
  field: 'rolledBackReceipts',
  title: 'Daily rolled-back receipts',
  description: 'Receipts that were rolled back: when, by whom, why, and what replaces them.',
  routes: [{ method: 'GET', path: '/dailyrolledbackreceipts.svc' }],
  parameters: {
    date: optional(dayType, {
      restName: 'date',
      description: 'One day. Default: today, where no range is given.',
    }),
    from: optional(dayType, { restName: 'from', description: 'First day of a range.' }),
    to: optional(dayType, { restName: 'to', description: 'Last day of a range; at most a year.' }),
    dateBasis: defaulted(rollbackBasis, {
      restName: 'date_basis',
      description: 'Which day of a receipt counts.',
      default: 'ROLLBACK',
      value: () => 'ROLLBACK',
    }),
  },
  roles: ['accountant'],
  teachers: 'none',
  row: RolledBackReceipt,
  totals: RolledBackReceiptTotals,
  example: { date: '2026-07-09' },
  understand: ({ date, from, to, ...rest }, { today }) => ({
    ...rest,
    date: date ?? (from === undefined && to === undefined ? today : undefined),
    from,
    to,
  }),
  check: (values, { today }) => {
    daysOf(values, today);
  },
  parts(values, { domain, timeZone, today }) {
    const { first, last } = daysOf(values, today);
    return {
      ctes: sql`
${feeHeadPlaces({ domain })},
rolled_back as materialized (
  select
    r.id, r.data, r.data->>'receipt_no' as receipt_no,
    case when ${values.dateBasis} = 'ROLLBACK' then r.data->>'rolled_back_on' else r.data->>'date' end as at,
    case
      when jsonb_typeof(r.data->'rolled_back_on') is distinct
        from 'string' then 'rolled_back_on is not an instant'
      when jsonb_typeof(r.data->'lines') is distinct from 'array' then 'lines is not a list'
      when jsonb_typeof(r.data->'total') is distinct from 'number' then 'total is not a number'
      when r.data @? '$.lines[*] ? (
          !exists(@.amount) || @.amount.type() != "number"
          || (exists(@.fine) && @.fine.type() != "number" && @.fine.type() != "null")
        )'
        then 'amount of a line is not a number'
    end as fault
  from records r
  where ${liveRecordsIn(domain, 'fee_receipt')}
    and r.data->'status' = '"rolled_back"'
    and (${values.dateBasis} <> 'ROLLBACK' or (
      r.data->'rolled_back_on' >= ${json(startOf(first, timeZone))}::jsonb
        and r.data->'rolled_back_on' < ${json(endOf(last, timeZone))}::jsonb))
    and (${values.dateBasis} <> 'RECEIPT' or (
      r.data->'date' >= ${json(startOf(first, timeZone))}::jsonb
        and r.data->'date' < ${json(endOf(last, timeZone))}::jsonb))
),
receipts as materialized (
  select *, (data->'total')::numeric as total, row_number() over (order by at, id) as position
    from rolled_back where fault is null
),
lines as materialized (
  select
    r.id, coalesce(line->>'fee_head', 'unknown') as fee_head, sum((line->'amount')::numeric) as amount,
    sum(case when jsonb_typeof(line->'fine') = 'number' then (line->'fine')::numeric else 0 end) as fine
  from receipts r
  cross join lateral jsonb_array_elements(r.data->'lines') as line
  group by 1, 2
)`,
      rows: {
        position: sql`r.position`,
        key: sql`r.receipt_no`,
        of: 'r',
        columns: {
          date: sql`r.data->>'date'`,
          studentId: sql`r.data->'student'->>'value'`,
          student: sql`r.data->'student'->>'label'`,
          class: sql`r.data->>'class'`,
          section: sql`r.data->>'section'`,
          heads: sql`(select ${jsonListOf(FeeHeadAmount, byFeeHead)} from lines l where l.id = r.id)`,
          fine: sql`(select round(coalesce(sum(l.fine), 0), 2) from lines l where l.id = r.id)`,
          paymentType: sql`r.data->>'payment_type'`,
          collectedBy: sql`r.data->'collected_by'->>'label'`,
          rolledBackAt: sql`r.data->>'rolled_back_on'`,
          rolledBackBy: sql`r.data->'rolled_back_by'->>'label'`,
          reason: sql`r.data->>'rollback_reason'`,
          type: sql`r.data->>'rollback_type'`,
          replacement: sql`(
            select min(n.data->>'receipt_no')
            from records n
            where ${liveRecordsIn(domain, 'fee_receipt', 'n')}
              and n.data->'replaces' = to_jsonb(r.receipt_no)
          )`,
        },
        from: sql`from receipts r`,
      },
      totals: {
        columns: {
          receipts: sql`(select count(*) from receipts)`,
          heads: sql`(
            select ${jsonListOf(FeeHeadAmount, byFeeHead)}
            from (select fee_head, sum(amount) as amount from lines group by fee_head) as by_head
          )`,
          fine: sql`(select round(coalesce(sum(fine), 0), 2) from lines)`,
          total: sql`(select round(coalesce(sum(total), 0), 2) from receipts)`,
          types: sql`(
            select ${jsonListOf(RollbackTypeAmount, sql`type`)}
            from (select coalesce(data->>'rollback_type', 'unknown') as type, count(*) as receipts,
              sum(total) as amount from receipts group by 1) as by_type
          )`,
          paymentTypes: sql`(
            select ${jsonListOf(PaymentTypeAmount, sql`payment_type`)}
            from (select coalesce(data->>'payment_type', 'unknown') as payment_type, sum(total) as amount
              from receipts group by 1) as by_payment
          )`,
        },
      },
      leftOut: sql`select 'fee_receipt' as collection, fault as reason, id
from rolled_back
where fault is not null`,
    };
  },
});
