/**
 * Whether every JavaScript object has a member of this name, e.g. `constructor`: a library that looks names
 * up in a plain object finds it although nobody has put it there.
 */
export function isInheritedName(name: string): boolean {
  return name in Object.prototype;
}
