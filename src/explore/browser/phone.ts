/** As wide as the styles call a phone. */
export function isPhone(): boolean {
  return matchMedia('(max-width: 760px)').matches;
}
