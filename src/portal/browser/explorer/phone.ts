/**
 * Whether the window is as narrow as a phone, according to the styles. Three panels beside each other need
 * more room.
 */
export function isPhone(): boolean {
  return matchMedia('(max-width: 62em)').matches;
}
