/** Everything a script finds in its global `platform`, in the order of the interface document. */
import type { HostBinding } from './host-binding.js';

/** What the bindings work with. */
// biome-ignore lint/suspicious/noEmptyInterface: each subject adds what it needs
export interface PlatformServices {}

export function createBindings(_services: PlatformServices): readonly HostBinding[] {
  return [];
}
