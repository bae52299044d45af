/** The order of the members of a jsonb object: by the length of the name, then by its bytes. */
export function inJsonbOrder(one: string, other: string): number {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length - others.length || bytes.compare(others);
}
