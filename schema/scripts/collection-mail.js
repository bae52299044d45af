/*
 * Collection of the month by mail
 * On the first of each month, last month's collection by way of paying, to the school's accountants, with the
 * collection of each day as a spreadsheet.
 *
 * Settings: { "schedule": "0 7 1 * *", "serviceRoles": ["admin"] }
 */
const now = new Date(args?.scheduledFor ?? Date.now());
const start = new Date(now.getFullYear(), now.getMonth() - 1, 1);
const end = new Date(now.getFullYear(), now.getMonth(), 1);
const last = new Date(now.getFullYear(), now.getMonth(), 0);
const month = `${start.getFullYear()}-${String(start.getMonth() + 1).padStart(2, '0')}`;

const rows = await platform.aggregate('fee_receipt', [
  { $match: { status: 'active', date: { $gte: start.toISOString(), $lt: end.toISOString() } } },
  { $group: { _id: '$payment_type', receipts: { $sum: 1 }, total: { $sum: '$total' } } },
  { $sort: { _id: 1 } },
]);
const to = await platform.db.findDistinct('pltf_user', 'email', { roles: 'accountant', active: true });
const total = rows.reduce((sum, row) => sum + row.total, 0);

if (to.length > 0) {
  const days = { from: `${month}-01`, to: `${month}-${last.getDate()}`, payment_type: 'all' };
  const sheet = platform.report('daily-fee-collection', days, 'xlsx');
  platform.sendEmail({
    to,
    subject: `Fees collected in ${month}`,
    text: 'Collected in {{month}}: {{total}}\n\n{{#rows}}{{_id}}: {{receipts}} receipts, {{total}}\n{{/rows}}',
    data: {
      month,
      total: total.toFixed(2),
      rows: rows.map((row) => ({ ...row, total: row.total.toFixed(2) })),
    },
    attachments: [sheet],
    key: `collection ${month}`,
  });
}
export default { month, total, to };
