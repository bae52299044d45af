/*
 * Admission enquiries
 * POST /x/admission-enquiry from the school's own web page, by anybody: becomes a task for the office.
 *
 * Settings: { "endpoint": { "access": "public", "methods": ["POST"] }, "serviceRoles": ["clerk"] }
 */
export default async ({ body }) => {
  const { name, phone, class: wanted } = body ?? {};
  const missing = Object.entries({ name, phone, class: wanted })
    .filter(([, value]) => typeof value !== 'string' || value.trim() === '' || value.length > 100)
    .map(([field]) => field);
  if (missing.length > 0) return { status: 400, body: { error: `Please give: ${missing.join(', ')}` } };
  const task = await platform.db.create('task', { name: `Enquiry for class ${wanted}: ${name}, ${phone}` });
  return { status: 201, body: { reference: task._id, message: 'Thank you. The office will call you.' } };
};
