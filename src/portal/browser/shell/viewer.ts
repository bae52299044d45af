import { createContext, useContext } from 'react';
import type { PortalViewerQuery } from '../../../generated/portal/shell/viewer';

/** The logged-in user and their rights, which decide about the menu and every page. */
export type Viewer = PortalViewerQuery['me'];

export type ViewerCollection = Viewer['collections'][number];

export const ViewerContext = createContext<Viewer | undefined>(undefined);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error('A page was shown to nobody');
  return viewer;
}

/**
 * Returns the name of a report for its address, by its GraphQL field; `undefined` if the viewer may not run
 * it.
 */
export function useNameOfReport(): (field: string) => string | undefined {
  const { reports } = useViewer();
  return (field) => reports.find((one) => one.field === field)?.name;
}
