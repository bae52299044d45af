import { type ReactNode, useEffect } from 'react';
import { InSteps } from '../shell/in-steps';
import { LoadingState } from '../shell/states';
import { useAddress } from '../shell/use-address';
import { useViewer } from '../shell/viewer';
import { useSavedViews } from './use-saved-views';
import { findDefaultView, toShownRecords, VIEW_ADDRESS } from './view-address';

export interface DefaultViewProps {
  readonly collection: string;
  readonly children: ReactNode;
}

/** Opens a collection with its default view, if the address contains no filter or order. */
export function DefaultView({ collection, children }: DefaultViewProps) {
  const { id } = useViewer();
  const { views } = useSavedViews(collection);
  const [address, change] = useAddress(VIEW_ADDRESS);
  const isBare = Object.values(address).every((value) => value === '');
  const chosen = isBare && views ? findDefaultView(views, id) : undefined;
  useEffect(() => {
    if (chosen) change({ ...toShownRecords(chosen), view: chosen.id }, 'replace');
  }, [chosen, change]);
  const waiting = <LoadingState rows={12} />;
  return isBare && (!views || chosen) ? waiting : <InSteps before={waiting}>{children}</InSteps>;
}
