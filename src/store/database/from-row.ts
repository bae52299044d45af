/** A row as the driver returns it, with the names of the value: `null` where the value is `undefined`. */
export type RowOf<Value> = {
  readonly [Name in keyof Value]: undefined extends Value[Name]
    ? Exclude<Value[Name], undefined> | null
    : Value[Name];
};

export function fromRow<Value extends object>(row: RowOf<Value>): Value {
  const members = Object.entries(row).map(([name, value]) => [name, value ?? undefined]);
  return Object.fromEntries(members) as Value;
}
