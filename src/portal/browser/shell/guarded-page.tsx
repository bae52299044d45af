import type { ReactNode } from 'react';
import type { PortalPage } from '../portal-pages';
import { NoRightState } from './states';
import { useViewer } from './viewer';

/** A page, for those who have it; the gateway refuses what is behind it to others by itself. */
export function GuardedPage({ page, children }: { readonly page: PortalPage; readonly children: ReactNode }) {
  return page.isFor(useViewer()) ? children : <NoRightState label={page.label} />;
}
