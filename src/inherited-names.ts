/**
 * Whether every JavaScript object answers to this name, e.g. `constructor`: a library that looks a name up in
 * a plain object finds something there though nobody has put it in.
 */
export function isInheritedName(name: string): boolean {
  return name in Object.prototype;
}
