import type { ReactNode } from 'react';
import { useIsPrinted } from './use-is-printed';

/** Renders its children only on paper. */
export function PrintedOnly({ children }: { readonly children: ReactNode }) {
  return useIsPrinted() ? children : null;
}
