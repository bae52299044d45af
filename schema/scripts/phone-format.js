/*
 * Phone numbers in one form
 * Writes the guardian's number as +91 and ten digits, and refuses what is no number.
 *
 * Settings: { "before": [{ "collection": "registration", "operations": ["create", "update"] }] }
 */
export default ({ record }) => {
  if (!record.guardian_phone) return record;
  const digits = record.guardian_phone.replace(/\D/g, '').replace(/^(91|0)(?=\d{10}$)/, '');
  if (digits.length !== 10)
    throw new Error(`"${record.guardian_phone}" is no mobile number: ten digits are expected`);
  return { ...record, guardian_phone: `+91${digits}` };
};
