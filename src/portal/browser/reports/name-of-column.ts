/** `daysOver90` as people read it: Days over 90. */
export function nameOfColumn(name: string): string {
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z\d])(?=[A-Z][a-z])/g, ' ').toLowerCase();
  return words.replace(/^./, (first) => first.toUpperCase());
}

/** The values that are no words written in capitals. */
const WRITTEN: Readonly<Record<string, string>> = {
  NEFT: 'NEFT',
  HALFYEAR: 'Half-yearly',
  FINALYEAR: 'Annual',
  OBC: 'OBC',
  SC: 'SC',
  ST: 'ST',
  EWS: 'EWS',
  EN: 'English',
  HI: 'Hindi',
};

/** `NOT_MARKED` as people read it: Not marked. */
export function nameOfEnumValue(value: string): string {
  return WRITTEN[value.toUpperCase()] ?? nameOfColumn(value.toLowerCase().replaceAll('_', ' '));
}

/** What a column is, without its unit: the values say that themselves. */
export function meaningOfColumn(description: string): string {
  return description.replace(/ Unit: [^.]*\.$/, '');
}
