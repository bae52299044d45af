/*
 * Leave in the register
 * Marks a student on leave for every day of a request that is approved, where the day has no mark yet.
 *
 * Settings: { "after": [{ "collection": "leave_request", "operations": ["create", "update"] }], "serviceRoles": ["admin"] }
 */
const NOON = 'T06:30:00.000Z'; // in India

export default async ({ record }) => {
  if (record?.status !== 'approved' || record.kind !== 'student') return { marked: 0 };
  const [student] = await platform.aggregate('registration', [{ $match: { _id: record.name.value } }]);
  if (!student) return { marked: 0 };
  let marked = 0;
  const last = new Date(`${record.to}T00:00:00.000Z`);
  for (
    let day = new Date(`${record.from}T00:00:00.000Z`);
    day <= last;
    day.setUTCDate(day.getUTCDate() + 1)
  ) {
    if (day.getUTCDay() === 0) continue;
    try {
      await platform.db.create('attendance', {
        created: `${day.toISOString().slice(0, 10)}${NOON}`,
        student: { value: student._id, label: student.name },
        class: student.class,
        section: student.section,
        status: 'leave',
        remark: record.reason,
      });
      marked += 1;
    } catch (error) {
      // One mark a student and day: what is there stays.
      if (error.code !== 'CONFLICT') throw error;
    }
  }
  return { marked };
};
