/*
 * Fee payments from the bank
 * Fetches what the bank received since a day and gives the accountant a task for each payment, once however often it runs.
 * The address is the property `bankApi`; its token is kept encrypted in the property `bankToken` (platform.encrypt).
 *
 * Settings: { "schedule": "0,15,30,45 9-17 * * 1-6", "serviceRoles": ["admin"] }
 */
const answer = platform.request(`${platform.property('bankApi')}/payments`, {
  query: { since: args?.since ?? new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10) },
  headers: { authorization: `Bearer ${platform.decrypt(platform.property('bankToken'))}` },
  retries: 3,
});
if (!answer.ok) throw new Error(`the bank answered ${answer.status}`);

const made = [];
for (const payment of answer.body.payments) {
  const [student] = await platform.aggregate('registration', [
    { $match: { sequence: payment.reference } },
    { $limit: 1 },
  ]);
  try {
    await platform.db.create('task', {
      _id: `bank-${payment.utr}`,
      name: student
        ? `Receipt for ${student.name} (${student.sequence}): bank payment ${payment.utr}`
        : `Bank payment ${payment.utr} names no student: "${payment.reference}"`,
      amount: payment.amount,
    });
    made.push(payment.utr);
  } catch (error) {
    // Seen before.
    if (error.code !== 'CONFLICT') throw error;
  }
}
export default { made };
