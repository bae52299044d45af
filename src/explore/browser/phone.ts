/** Whether the window is as narrow as the styles call a phone. */
export function isPhone(): boolean {
  return matchMedia('(max-width: 760px)').matches;
}
