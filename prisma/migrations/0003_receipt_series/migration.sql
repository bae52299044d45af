-- The last number given of each series of receipts. A number is taken in the transaction that stores its receipt:
-- one that fails gives its number back, so that a series has no gaps.
create table receipt_series (
  domain text not null,
  series text not null,
  last_number bigint not null,
  constraint receipt_series_pkey primary key (domain, series)
);
