-- Statements that write records now write the rows that follow from them too (fee_months,
-- attendance_months, collected_receipts), and say so by setting campus.months for their transaction. The
-- triggers stay for whoever says nothing: the version before, which works on the same database during an
-- upgrade, and SQL by hand.

drop trigger keep_months_of_new_records on records;
create trigger keep_months_of_new_records
after insert on records
referencing new table as new_records
for each statement
when (coalesce(current_setting('campus.months', true), '') = '')
execute function keep_months_of_new_records();

drop trigger keep_fee_months_updated on records;
create trigger keep_fee_months_updated
after update on records
for each row
when (
  new.collection in ('fee_due', 'fee_receipt') and coalesce(current_setting('campus.months', true), '') = ''
)
execute function keep_fee_months();

drop trigger keep_fee_months_removed on records;
create trigger keep_fee_months_removed
after delete on records
for each row
when (
  old.collection in ('fee_due', 'fee_receipt') and coalesce(current_setting('campus.months', true), '') = ''
)
execute function keep_fee_months();

drop trigger keep_attendance_months_updated on records;
create trigger keep_attendance_months_updated
after update on records
for each row
when (
  new.collection = 'attendance'
  and coalesce(current_setting('campus.months', true), '') = ''
  and (old.deleted_at, old.keys, old.data->'class', old.data->'section', old.data->'status')
    is distinct from (new.deleted_at, new.keys, new.data->'class', new.data->'section', new.data->'status')
)
execute function keep_attendance_months();

drop trigger keep_attendance_months_removed on records;
create trigger keep_attendance_months_removed
after delete on records
for each row
when (old.collection = 'attendance' and coalesce(current_setting('campus.months', true), '') = '')
execute function keep_attendance_months();

drop trigger keep_collected_receipts_written on records;
create trigger keep_collected_receipts_written
after insert or update on records
for each row
when (new.collection = 'fee_receipt' and coalesce(current_setting('campus.months', true), '') = '')
execute function keep_collected_receipts();

drop trigger keep_collected_receipts_removed on records;
create trigger keep_collected_receipts_removed
after delete on records
for each row
when (old.collection = 'fee_receipt' and coalesce(current_setting('campus.months', true), '') = '')
execute function keep_collected_receipts();

-- All of it anew from the records of some domains, or of all of them (null): after a load that has set
-- campus.months, and by whoever doubts it. In PL/pgSQL, because what is spread over several servers refuses
-- parameters in functions of SQL.
create function derive_rows_anew(of_domains text[]) returns void
language plpgsql
set work_mem = '128MB'
as $$
begin
  delete from fee_months m where of_domains is null or m.domain = any(of_domains);
  insert into fee_months
  select m.domain, m.student, m.month, s.*, m.dues, m.payments
  from (
    select
      r.domain, e.student, e.month,
      coalesce(jsonb_object_agg(r.id, e.entry) filter (where r.collection = 'fee_due'), '{}') as dues,
      coalesce(jsonb_object_agg(r.id, e.entry) filter (where r.collection = 'fee_receipt'), '{}') as payments
    from records r
    cross join lateral fee_entries_of(r.collection, r.id, r.data, r.deleted_at) as e
    where r.collection in ('fee_due', 'fee_receipt') and (of_domains is null or r.domain = any(of_domains))
    group by r.domain, e.student, e.month
    order by r.domain, e.student, e.month
  ) as m
  cross join lateral fee_month_state(m.dues, m.payments) as s;

  delete from attendance_months m where of_domains is null or m.domain = any(of_domains);
  insert into attendance_months
  select
    m.domain, m.student, m.month, m.class, m.section,
    bit_or(m.present), bit_or(m.absent), bit_or(m.late), bit_or(m.half_day), bit_or(m.leave), bit_or(m.other)
  from records r
  cross join lateral attendance_month_of(r.domain, r.data, r.keys, r.deleted_at) as m
  where r.collection = 'attendance' and (of_domains is null or r.domain = any(of_domains))
  group by m.domain, m.student, m.month, m.class, m.section
  order by m.domain, m.student, m.month, m.class, m.section;

  delete from collected_receipts c where of_domains is null or c.domain = any(of_domains);
  insert into collected_receipts
  select c.*
  from records r
  cross join lateral collected_receipt_of(r.domain, r.id, r.data) as c
  where r.collection = 'fee_receipt' and r.deleted_at is null
    and (of_domains is null or r.domain = any(of_domains))
  order by c.domain, c.at;
end
$$;
