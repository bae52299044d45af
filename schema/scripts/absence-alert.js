/*
 * Absence alert
 * Tells the guardian as soon as a student is marked absent.
 *
 * Settings: { "after": [{ "collection": "attendance", "operations": ["create", "update"] }], "serviceRoles": ["clerk"] }
 */
export default async ({ record }) => {
  if (record?.status !== 'absent') return { sent: 0 };
  for await (const student of platform.db.findStream('registration', { _id: record.student.value })) {
    if (!student.guardian_phone) continue;
    platform.sendSms({
      to: student.guardian_phone,
      text: `${student.name} of class ${record.class} ${record.section} is absent today. Please call the school if this is unexpected.`,
      category: 'absence',
      recipient: { value: student._id, label: student.name },
      // A mark that is corrected to absent twice a day is told once.
      key: `absence ${record.created.slice(0, 10)} ${student._id}`,
    });
    return { sent: 1 };
  }
  return { sent: 0 };
};
