import { createContext, useContext } from 'react';
import type { PortalViewerQuery } from '../../../generated/portal/shell/viewer';

/** Who is logged in and what the gateway lets them do: the menu and every page go by this. */
export type Viewer = PortalViewerQuery['me'];

export type ViewerCollection = Viewer['collections'][number];

export const ViewerContext = createContext<Viewer | undefined>(undefined);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error('A page was shown to nobody');
  return viewer;
}

/** The names, for their addresses, of the reports that the viewer may run, by their fields. */
export function useNameOfReport(): (field: string) => string | undefined {
  const { reports } = useViewer();
  return (field) => reports.find((one) => one.field === field)?.name;
}
