import type { ReactNode } from 'react';
import { useIsPrinted } from './use-is-printed';

/** What paper needs and the screen does not. */
export function PrintedOnly({ children }: { readonly children: ReactNode }) {
  return useIsPrinted() ? children : null;
}
