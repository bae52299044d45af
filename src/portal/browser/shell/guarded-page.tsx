import type { ReactNode } from 'react';
import type { PortalPage } from '../portal-pages';
import { NoRightState } from './states';
import { useViewer } from './viewer';

/** Shows a page only to viewers who have access. The gateway itself refuses the data to others. */
export function GuardedPage({ page, children }: { readonly page: PortalPage; readonly children: ReactNode }) {
  return page.isFor(useViewer()) ? children : <NoRightState label={page.label} />;
}
