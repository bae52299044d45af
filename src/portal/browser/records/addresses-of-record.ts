/** The email addresses and phone numbers of a record, by which messages to it are found. */

/** More would mean too many requests to the gateway. */
const MOST_ADDRESSES = 5;
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;
const PHONE = /^\+?\d{10,15}$/;
const IS_PHONE_FIELD = /phone|mobile|tel|whatsapp|^sms/;

/**
 * Returns each address once, in the order of the fields. A number counts as a phone number if the declaration
 * of its field says so.
 */
export function addressesOfRecord(
  { fields }: { readonly fields: readonly { readonly name: string }[] },
  data: Readonly<Record<string, unknown>>,
): readonly string[] {
  const found = fields.flatMap(({ name }) => {
    const value = data[name];
    if (typeof value !== 'string') return [];
    const isAddress = EMAIL.test(value) || (IS_PHONE_FIELD.test(name) && PHONE.test(value));
    return isAddress ? [value] : [];
  });
  return [...new Set(found)].slice(0, MOST_ADDRESSES);
}
