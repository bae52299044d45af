-- The daily collection reads the numbers of a series in their order, and the receipts that it must leave out. Without these
-- indexes it looked up every number by itself and read all receipts of the school.
create index collected_receipts_domain_series_number_idx on collected_receipts (domain, series, number);
create index collected_receipts_faults_idx on collected_receipts (domain, at) where fault is not null;
