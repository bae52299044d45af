-- New marks, dues and receipts come into their months all at once, by one statement for all the rows that a
-- statement has stored: a trigger for each row took nearly half of the time of storing 10,000 marks. Changes
-- and removals keep the triggers for each row, which read the records again. Months are written in the order
-- of their keys, so that no two statements wait for each other in a circle.

-- Whoever loads very many records, and fills the months from them afterwards, says so before:
-- set local campus.months = 'filled later'.
create function keep_months_of_new_records() returns trigger
language plpgsql
-- Planned once a connection: left to itself, PostgreSQL plans these statements anew for every call.
set plan_cache_mode = force_generic_plan
as $$
declare
  has_marks boolean;
  has_fees boolean;
begin
  select bool_or(n.collection = 'attendance'), bool_or(n.collection in ('fee_due', 'fee_receipt'))
  into has_marks, has_fees
  from new_records n;
  if has_marks then
    insert into attendance_months as m
    select
      d.domain, d.student, d.month, d.class, d.section, bit_or(d.present), bit_or(d.absent),
      bit_or(d.late), bit_or(d.half_day), bit_or(d.leave), bit_or(d.other)
    from new_records n
    cross join lateral attendance_month_of(n.domain, n.data, n.keys, n.deleted_at) as d
    where n.collection = 'attendance'
    group by d.domain, d.student, d.month, d.class, d.section
    order by d.domain, d.student, d.month, d.class, d.section
    on conflict on constraint attendance_months_pkey do update
    set present = m.present | excluded.present, absent = m.absent | excluded.absent,
      late = m.late | excluded.late, half_day = m.half_day | excluded.half_day,
      leave = m.leave | excluded.leave, other = m.other | excluded.other;
  end if;
  if has_fees then
    insert into fee_months as m
    select e.domain, e.student, e.month, s.*, e.dues, e.payments
    from (
      select
        n.domain, e.student, e.month,
        coalesce(jsonb_object_agg(n.id, e.entry) filter (where n.collection = 'fee_due'), '{}') as dues,
        coalesce(jsonb_object_agg(n.id, e.entry) filter (where n.collection = 'fee_receipt'), '{}')
          as payments
      from new_records n
      cross join lateral fee_entries_of(n.collection, n.id, n.data, n.deleted_at) as e
      where n.collection in ('fee_due', 'fee_receipt')
      group by n.domain, e.student, e.month
    ) as e
    cross join lateral fee_month_state(e.dues, e.payments) as s
    order by e.domain, e.student, e.month
    on conflict (domain, student, month) do update
    set (
      due, paid, fine, balance, credit, balance_from, due_from, due_to, cancelled_to, paid_from, paid_to,
      is_regular, heads, dues, payments
    ) = (
      select s.*, kept.dues, kept.payments
      from (
        select m.dues || excluded.dues as dues, m.payments || excluded.payments as payments
        offset 0
      ) as kept
      cross join lateral fee_month_state(kept.dues, kept.payments) as s
    );
  end if;
  return null;
end;
$$;

drop trigger keep_attendance_months_inserted on records;
drop trigger keep_fee_months_written on records;

create trigger keep_months_of_new_records
after insert on records
referencing new table as new_records
for each statement
when (current_setting('campus.months', true) is distinct from 'filled later')
execute function keep_months_of_new_records();

create trigger keep_fee_months_updated
after update on records
for each row
when (new.collection in ('fee_due', 'fee_receipt'))
execute function keep_fee_months();
