-- What the fee reports count from: a row for each student and month with what was asked and what was paid, 60,000 rows in place of
-- 300,000 dues and 60,000 receipts. The triggers below keep it in step in the transaction of every write, whatever way that comes;
-- nothing else writes it.
--
-- `dues` and `payments` hold what the records say, by their ids, so that a month can be told as on any day:
--
--   dues      { id: [fee_head, amount, due_date, cancelled_on, session] }
--   payments  { id: [date, is_active, rolled_back_on, [[fee_head, amount, fine], …]] }, with the lines of this month
--
-- An amount that is no number is null; a head, or a student, that is missing is ''. The columns before them are what the two come to in
-- the end (fee_month_state): right as on every day from `due_to`, `cancelled_to` and `paid_to` on, which is most months on most days.
create table fee_months (
  domain text not null,
  student text not null,
  month text not null,
  due numeric,
  paid numeric,
  fine numeric,
  balance numeric not null,
  credit numeric not null,
  balance_from text,
  due_from text,
  due_to text,
  cancelled_to text,
  paid_from text,
  paid_to text,
  is_regular boolean not null,
  heads jsonb not null,
  dues jsonb not null,
  payments jsonb not null,
  constraint fee_months_pkey primary key (domain, student, month)
)
-- Room on the page for the next entry: an update that stays on its page touches no index.
with (fillfactor = 70);

-- What the entries of a month come to:
--   due, paid, fine       the sums of what is not cancelled and not rolled back; null where there is none
--   balance, credit       what is open, and what is paid too much, each the sum over the heads, before concessions
--   balance_from          the first due date of a head that is open
--   due_from, due_to      the first and the last due date, cancelled or not
--   cancelled_to          the last day a due was cancelled
--   paid_from, paid_to    the first receipt; the last receipt or rollback
--   is_regular            every amount is a number, every entry has its date
--   heads                 { fee_head: [due, paid, fine, due_date] }
create function fee_month_state(dues jsonb, payments jsonb)
returns table (
  due numeric, paid numeric, fine numeric, balance numeric, credit numeric, balance_from text,
  due_from text, due_to text, cancelled_to text, paid_from text, paid_to text, is_regular boolean, heads jsonb
)
language sql immutable parallel safe
as $$
  select
    h.due, h.paid, h.fine, h.balance, h.credit, h.balance_from, d.due_from, d.due_to, d.cancelled_to, p.paid_from, p.paid_to,
    coalesce(d.is_regular, true) and coalesce(p.is_regular, true), h.heads
  from (
    select
      sum(due) as due, sum(paid) as paid, sum(fine) as fine,
      coalesce(sum(owed) filter (where owed > 0), 0) as balance, coalesce(-sum(owed) filter (where owed < 0), 0) as credit,
      min(due_date) filter (where owed > 0) as balance_from,
      coalesce(jsonb_object_agg(fee_head, jsonb_build_array(due, paid, fine, due_date)), '{}') as heads
    from (
      select
        fee_head, sum(due) as due, sum(paid) as paid, sum(fine) as fine, min(due_date) as due_date,
        coalesce(sum(due), 0) - coalesce(sum(paid), 0) as owed
      from (
        select e->>0 as fee_head, (e->>1)::numeric as due, e->>2 as due_date, null::numeric as paid, null::numeric as fine
        from jsonb_each(dues) as entry(id, e)
        where e->>3 is null
        union all
        select line->>0, null, null, (line->>1)::numeric, (line->>2)::numeric
        from jsonb_each(payments) as entry(id, e)
        cross join lateral jsonb_array_elements(e->3) as line
        where e->1 = 'true'
      ) as entry
      group by fee_head
    ) as head
  ) as h
  cross join (
    select
      min(e->>2) as due_from, max(e->>2) as due_to, max(e->>3) as cancelled_to,
      bool_and(e->>1 is not null and e->>2 is not null) as is_regular
    from jsonb_each(dues) as entry(id, e)
  ) as d
  cross join (
    select
      min(e->>0) as paid_from, max(greatest(e->>0, e->>2)) as paid_to,
      bool_and(e->>0 is not null and not e @? 'strict $[3][*] ? (@[1] == null)') as is_regular
    from jsonb_each(payments) as entry(id, e)
  ) as p
$$;

-- The months with an entry of a due or a receipt, and the entry: of a due one, of a receipt those it pays for. None of a tombstone, or of
-- a due without a month.
create function fee_entries_of(collection text, id text, data jsonb, deleted_at timestamptz)
returns table (student text, month text, entry jsonb)
language sql immutable parallel safe
as $$
  select
    coalesce(data->'student'->>'value', ''), data->>'month',
    jsonb_build_array(coalesce(data->>'fee_head', ''), to_number(data->'amount'), data->>'due_date', data->>'cancelled_on', data->'session')
  where collection = 'fee_due' and deleted_at is null and jsonb_typeof(data->'month') = 'string'
  union all
  select
    coalesce(data->'student'->>'value', ''), line->>'month',
    jsonb_build_array(
      data->>'date', coalesce(data->>'status' = 'active', false), data->>'rolled_back_on',
      jsonb_agg(jsonb_build_array(coalesce(line->>'fee_head', ''), to_number(line->'amount'), to_number(line->'fine')))
    )
  from jsonb_array_elements(case when jsonb_typeof(data->'lines') = 'array' then data->'lines' else '[]' end) as line
  where collection = 'fee_receipt' and deleted_at is null and line->>'month' is not null
  group by line->>'month'
$$;

-- Takes the entry of a record out of the months it was in, and puts it into those it is in now. The upsert locks the row: of two
-- writes at once, the second adds to what the first has left. In the order of the months, so that no two wait for each other.
create function keep_fee_months() returns trigger
language plpgsql
-- Planned once a connection: left to itself, PostgreSQL plans these statements anew for every record, for a millisecond.
set plan_cache_mode = force_generic_plan
as $$
declare
  record_domain text := coalesce(new.domain, old.domain);
  record_id text := coalesce(new.id, old.id);
  is_due boolean := coalesce(new.collection, old.collection) = 'fee_due';
  place record;
  entries jsonb;
begin
  for place in
    select student, month, n.entry
    from fee_entries_of(new.collection, new.id, new.data, new.deleted_at) as n
    full join (select student, month from fee_entries_of(old.collection, old.id, old.data, old.deleted_at)) as o using (student, month)
    order by student, month
  loop
    entries := case when place.entry is null then '{}' else jsonb_build_object(record_id, place.entry) end;
    insert into fee_months as m
    select
      record_domain, place.student, place.month, s.*,
      case when is_due then entries else '{}' end, case when is_due then '{}' else entries end
    from fee_month_state(case when is_due then entries else '{}' end, case when is_due then '{}' else entries end) as s
    on conflict (domain, student, month) do update
    set (due, paid, fine, balance, credit, balance_from, due_from, due_to, cancelled_to, paid_from, paid_to, is_regular, heads, dues, payments) = (
      select s.*, kept.dues, kept.payments
      from (
        select
          case when is_due then m.dues - record_id || excluded.dues else m.dues end as dues,
          case when is_due then m.payments else m.payments - record_id || excluded.payments end as payments
        offset 0
      ) as kept
      cross join lateral fee_month_state(kept.dues, kept.payments) as s
    );
    if place.entry is null then
      delete from fee_months m
      where m.domain = record_domain and m.student = place.student and m.month = place.month and m.dues = '{}' and m.payments = '{}';
    end if;
  end loop;
  return null;
end;
$$;

create trigger keep_fee_months_written
after insert or update on records
for each row
when (new.collection in ('fee_due', 'fee_receipt'))
execute function keep_fee_months();

create trigger keep_fee_months_removed
after delete on records
for each row
when (old.collection in ('fee_due', 'fee_receipt'))
execute function keep_fee_months();

-- All of it anew from the records: for those that are there already, and after a load that has put the triggers aside.
create function fill_fee_months() returns void
language sql
set work_mem = '128MB'
as $$
  delete from fee_months;
  insert into fee_months
  select m.domain, m.student, m.month, s.*, m.dues, m.payments
  from (
    select
      r.domain, e.student, e.month,
      coalesce(jsonb_object_agg(r.id, e.entry) filter (where r.collection = 'fee_due'), '{}') as dues,
      coalesce(jsonb_object_agg(r.id, e.entry) filter (where r.collection = 'fee_receipt'), '{}') as payments
    from records r
    cross join lateral fee_entries_of(r.collection, r.id, r.data, r.deleted_at) as e
    where r.collection in ('fee_due', 'fee_receipt')
    group by r.domain, e.student, e.month
    order by r.domain, e.student, e.month
  ) as m
  cross join lateral fee_month_state(m.dues, m.payments) as s;
$$;

select fill_fee_months();
