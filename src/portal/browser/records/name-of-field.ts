/** `guardian_phone` as people read it: Guardian phone; `dob`, which few do, as Date of birth. */
export function nameOfField(name: string): string {
  const words = name.replace(/^_+/, '').replaceAll(/[_.]+/g, ' ').replace(/^dob$/, 'date of birth');
  return words.replace(/^./, (first) => first.toUpperCase());
}
