-- What the SQL of the reports needs beyond PostgreSQL's own: casts that never fail, and a sum that is cheap to keep
-- for hundreds of thousands of groups at once.

-- The sum of exact amounts. sum(numeric) keeps some 200 bytes a group; the running state here is the number itself.
create aggregate exact_sum(numeric) (sfunc = numeric_add, stype = numeric);

-- The day of a text YYYY-MM-DD; null for any other text. A day past the end of its month counts on into the next.
create function day_of(value text) returns date
language sql immutable
return case when value ~ '^[12]\d{3}-(0[1-9]|1[0-2])-[0-3]\d$'
  then make_date(left(value, 4)::int, substr(value, 6, 2)::int, 1) + (right(value, 2)::int - 1)
end;

-- The instant of a text YYYY-MM-DDTHH:MM:SS[.sss]Z; null for any other text.
create function instant_of(value text) returns timestamptz
language sql immutable
return case when value ~ '^[12]\d{3}-(0[1-9]|1[0-2])-[0-3]\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?Z$'
  then (
    make_date(left(value, 4)::int, substr(value, 6, 2)::int, 1) + (substr(value, 9, 2)::int - 1)
    + make_time(substr(value, 12, 2)::int, substr(value, 15, 2)::int, rtrim(substr(value, 18), 'Z')::float8)
  ) at time zone 'UTC'
end;
