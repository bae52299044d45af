-- Uploads that go on where a cut line left them: the row of the file says how far they are while it is uploading.
alter table files
  -- the bytes that it will have; null: it is sent in one request, and is whole or nothing
  add column upload_length bigint,
  -- goes up with each request that sends more: only the newest one writes
  add column upload_turn integer not null default 0,
  -- how its sender described it, told to it as it came
  add column upload_metadata text,
  -- the collection it is to be imported into: taken by an import, or purged
  add column import_into text;
