/*
 * Nightly fee reminder
 * One message to the guardian of every active student who has paid nothing for a month whose fees are due.
 *
 * Settings: { "schedule": "0 19 * * *", "serviceRoles": ["accountant", "clerk"] }
 */
const day = (date) =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
const today = day(new Date());

const due = await platform.aggregate('fee_due', [
  { $match: { due_date: { $lte: today }, cancelled_on: { $exists: false } } },
  { $group: { _id: { student: '$student.value', month: '$month' }, amount: { $sum: '$amount' } } },
]);
const paid = await platform.aggregate('fee_receipt', [
  { $match: { status: 'active' } },
  { $unwind: '$lines' },
  { $group: { _id: { student: '$student.value', month: '$lines.month' } } },
]);
const freed = await platform.db.findDistinct('fee_concession', 'name.value', {
  kind: 'percent',
  value: { $gte: 100 },
});

const key = ({ student, month }) => `${student} ${month}`;
const settled = new Set(paid.map(({ _id }) => key(_id)));
const monthsByStudent = new Map();
for (const { _id } of due) {
  if (settled.has(key(_id)) || freed.includes(_id.student)) continue;
  monthsByStudent.set(_id.student, [...(monthsByStudent.get(_id.student) ?? []), _id.month]);
}

let sent = 0;
for await (const student of platform.db.findStream('registration', { status: 'active' })) {
  const months = monthsByStudent.get(student._id);
  if (!months || !student.guardian_phone) continue;
  platform.sendSms({
    to: student.guardian_phone,
    text: `Fees of ${student.name} (${student.sequence}) for ${months.sort().join(', ')} are due. Please pay at the school office.`,
    category: 'fee',
    recipient: { value: student._id, label: student.name },
    key: `fee-reminder ${today} ${student._id}`,
  });
  sent += 1;
}
platform.log(`fee reminders sent: ${sent}`);
export default { sent };
