/*
 * Absentees as CSV
 * GET /x/absentees?day=2026-11-20: who is absent, for a spreadsheet. Runs as its caller: a teacher gets the sections taught.
 *
 * Settings: { "endpoint": { "access": "caller", "methods": ["GET"] }, "roles": ["clerk", "teacher"] }
 */
export default async ({ query }) => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(query.day ?? '')) {
    return { status: 400, body: { error: 'day is to be YYYY-MM-DD, e.g. ?day=2026-11-20' } };
  }
  const [year, month, day] = query.day.split('-').map(Number);
  const absent = {
    status: 'absent',
    created: {
      $gte: new Date(year, month - 1, day).toISOString(),
      $lt: new Date(year, month - 1, day + 1).toISOString(),
    },
  };
  const cell = (text) =>
    `"${String(text ?? '')
      .replaceAll('"', '""')
      .replace(/^([=+\-@])/, "'$1")}"`;
  const lines = ['class,section,student'];
  for await (const mark of platform.db.findStream('attendance', absent, { sort: { class: 1, section: 1 } })) {
    lines.push([mark.class, mark.section, mark.student.label].map(cell).join(','));
  }
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="absentees-${query.day}.csv"`,
    },
    body: `${lines.join('\r\n')}\r\n`,
  };
};
