/*
 * Admission numbers
 * Gives a new student the next number, without gaps however many are admitted at once.
 * Counts in the collection `counter`, which is registered once: { "name": "counter", "fields": [{ "name": "last", "type": "number" }] }.
 *
 * Settings: { "before": [{ "collection": "registration", "operations": ["create"] }], "serviceRoles": ["admin"] }
 */
export default async ({ record }) => {
  if (record.sequence) return record;
  const counter = await platform.db.findAndModify(
    'counter',
    { _id: 'admission' },
    null,
    { $inc: { last: 1 } },
    { upsert: true, new: true },
  );
  return { ...record, sequence: `GV-${String(counter.last).padStart(5, '0')}` };
};
