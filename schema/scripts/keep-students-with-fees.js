/*
 * Keep students with fees
 * A student with receipts is withdrawn, never removed: the books would not add up.
 *
 * Settings: { "before": [{ "collection": "registration", "operations": ["delete"] }], "serviceRoles": ["accountant"] }
 */
export default async ({ record }) => {
  const receipts = await platform.db.getCount('fee_receipt', { 'student.value': record._id });
  if (receipts > 0) {
    throw new Error(`${record.name} has ${receipts} receipts: set status to "withdrawn" and left_on instead`);
  }
};
