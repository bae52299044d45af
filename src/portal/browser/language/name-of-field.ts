const NAMED: Readonly<Record<string, string>> = {
  dob: 'date of birth',
  sequence: 'admission number',
  includeLeft: 'include students who left',
};

/**
 * Prints the name of a field for people: `guardian_phone` as "Guardian phone", and `dob` as "Date of birth".
 */
export function nameOfField(name: string): string {
  const words = NAMED[name] ?? name.replace(/^_+/, '').replaceAll(/[_.]+/g, ' ');
  return words.replace(/^./, (first) => first.toUpperCase());
}

/** `daysOver90` as a heading: Days over 90. */
export function nameOfColumn(name: string): string {
  const parts = name.replaceAll(/(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z\d])(?=[A-Z][a-z])/g, ' ');
  const words = NAMED[name] ?? parts.toLowerCase();
  return words.replace(/^./, (first) => first.toUpperCase());
}

/** Enum values that are not plain words in capitals. */
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

/** `NOT_MARKED` as text: Not marked. */
export function nameOfEnumValue(value: string): string {
  return WRITTEN[value.toUpperCase()] ?? nameOfColumn(value.toLowerCase().replaceAll('_', ' '));
}

/** The description of a column without its unit, which the values show themselves. */
export function meaningOfColumn(description: string): string {
  return description.replace(/ Unit: [^.:]*\.$/, '');
}
