/** The order of the members of a jsonb object: a shorter name first, those of one length by their bytes. */
export function inJsonbOrder(one: string, other: string): number {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length - others.length || bytes.compare(others);
}
