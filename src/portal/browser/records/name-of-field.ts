/**
 * Prints the name of a field for people: `guardian_phone` as "Guardian phone", and `dob` as "Date of birth".
 */
export function nameOfField(name: string): string {
  const words = name.replace(/^_+/, '').replaceAll(/[_.]+/g, ' ').replace(/^dob$/, 'date of birth');
  return words.replace(/^./, (first) => first.toUpperCase());
}
