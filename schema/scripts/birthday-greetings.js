/*
 * Birthday greetings
 * A message in the morning to the families of the students whose birthday it is.
 *
 * Settings: { "schedule": "0 8 * * *", "serviceRoles": ["clerk"] }
 */
const now = new Date();
const monthAndDay = `${String(now.getMonth() + 1).padStart(2, '0')}-${String(now.getDate()).padStart(2, '0')}`;

const greeted = [];
const birthdays = { status: 'active', dob: { $regex: `-${args?.monthAndDay ?? monthAndDay}$` } };
for await (const student of platform.db.findStream('registration', birthdays, { sort: { name: 1 } })) {
  if (!student.guardian_phone) continue;
  platform.sendSms({
    to: student.guardian_phone,
    text: `Happy birthday, ${student.name}! Your school wishes you a good year.`,
    category: 'other',
    recipient: { value: student._id, label: student.name },
    key: `birthday ${now.getFullYear()} ${student._id}`,
  });
  greeted.push(student.name);
}
export default { greeted };
