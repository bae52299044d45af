/** `daysOver90` as people read it: Days over 90. */
export function nameOfColumn(name: string): string {
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z\d])(?=[A-Z][a-z])/g, ' ').toLowerCase();
  return words.replace(/^./, (first) => first.toUpperCase());
}

/** `NOT_MARKED` as people read it: Not marked. */
export function nameOfEnumValue(value: string): string {
  return nameOfColumn(value.toLowerCase().replaceAll('_', ' '));
}
