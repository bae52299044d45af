/**
 * Whether every JavaScript object has a member of this name, e.g. `constructor`: a library that looks names
 * up in a plain object finds it although it was never set.
 */
export function isInheritedName(name: string): boolean {
  return name in Object.prototype;
}
