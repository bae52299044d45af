import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  ChangeSavedView,
  MakeSavedView,
  SavedViewsOf,
  type SavedViewsOfQuery,
} from '../../../generated/portal/records/saved-views';
import { useGateway, useOperation, useViewer } from '../gateway/use-gateway';
import { type ShownRecords, toViewFields } from './view-address';

export type SavedView = SavedViewsOfQuery['savedViews']['nodes'][number];

export interface SavedViews {
  /** `undefined` until they are loaded; empty if the viewer may not read any. */
  readonly views: readonly SavedView[] | undefined;
}

/** Reads the views of a collection that the viewer owns, or that are shared with a role of the viewer. */
export function useSavedViews(collection: string): SavedViews {
  const { id, roles, collections } = useViewer();
  const mayRead = collections.some(({ name, canRead }) => name === 'saved_view' && canRead);
  const { data, error } = useOperation(SavedViewsOf, { collection, user: id, roles }, { isEnabled: mayRead });
  return { views: mayRead && !error ? data?.savedViews.nodes : [] };
}

export interface NamedView {
  /** Absent for a new view. */
  readonly stored?: Pick<SavedView, 'id' | 'version'> | undefined;
  readonly name: string;
  readonly sharedWith: readonly string[];
  readonly isDefault: boolean;
  readonly shown: ShownRecords;
}

/**
 * Saves a view and returns its id. If it is the default of its collection, the viewer's other views no longer
 * are.
 */
export function useSaveView(collection: string) {
  const gateway = useGateway();
  const queries = useQueryClient();
  const viewer = useViewer();
  const rights = viewer.collections.find(({ name }) => name === 'saved_view');
  return useMutation({
    mutationFn: async ({ stored, name, sharedWith, isDefault, shown }: NamedView): Promise<string> => {
      const maySend = stored ? rights?.updatableFields : rights?.creatableFields;
      const data = {
        ...toViewFields(shown),
        name,
        isDefault,
        ...(maySend?.includes('shared_with') && { sharedWith }),
      };
      const others = {
        collection: { equals: collection },
        owner: { id: { equals: viewer.id } },
        isDefault: { equals: true },
        ...(stored && { not: { id: { equals: stored.id } } }),
      };
      if (stored) {
        const { updateSavedView } = await gateway.execute(ChangeSavedView, {
          ...{ id: stored.id, version: stored.version },
          ...{ data, isDefault, others },
        });
        return updateSavedView.id;
      }
      const made = { ...data, collection, owner: { id: viewer.id } };
      return (await gateway.execute(MakeSavedView, { data: made, isDefault, others })).createSavedView.id;
    },
    // After a change by somebody else, the current version is shown beside the refusal.
    onSettled: () => queries.invalidateQueries({ queryKey: [SavedViewsOf.name] }),
  });
}
