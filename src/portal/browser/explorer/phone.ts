/** Whether the window is as narrow as the styles call a phone: three panels beside each other need more. */
export function isPhone(): boolean {
  return matchMedia('(max-width: 62em)').matches;
}
