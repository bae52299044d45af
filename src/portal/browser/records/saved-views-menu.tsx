/** The menu of saved views of a collection: select, save, rename, share and remove them. */
import { Menu, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import {
  ChangeSavedView,
  MakeSavedView,
  RemoveSavedView,
  SavedViewsOf,
  type SavedViewsOfQuery,
} from '../../../generated/portal/records/saved-views';
import { useAskAnew, useGateway, useOperation, useRights, useViewer } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { t } from '../language/texts';
import { ChangeDialog, FormDialog, notice, type SubmitFormProps, savedOver } from '../shell/confirm-dialog';
import { Icon } from '../shell/icon';
import { useAddress } from '../shell/page-filter';
import { SharedWithInput } from '../shell/shared-with-input';
import { TextButton } from '../shell/text-button';
import { SwitchField, TextField } from '../shell/text-field';
import {
  ALL_RECORDS,
  isSameShown,
  SHOWN_RECORDS,
  type ShownRecords,
  toShownRecords,
  toViewFields,
  VIEW_ADDRESS,
} from './view-address';

export function SavedViewsMenu({ collection }: { readonly collection: string }) {
  const viewer = useViewer();
  const views = useSavedViews(collection) ?? [];
  const [{ view: chosen, ...shown }, change] = useAddress(VIEW_ADDRESS);
  const [named, setNamed] = useState<NamedView>();
  const [isRemoving, setIsRemoving] = useState(false);
  const save = useSaveView(collection);
  const rights = useRights('saved_view');
  const active = views.find(({ id }) => id === chosen);
  const isOwn = active?.owner?.id === viewer.id;
  const isChanged = active !== undefined && !isSameShown(toShownRecords(active), shown);
  if (!rights?.canRead) return null;
  const begun = named?.stored;
  const { over, theirs } = savedOver(
    begun,
    views.find(({ id }) => id === begun?.id),
    save.error,
  );
  const keep = (view: NamedView) =>
    save.mutate(view, {
      onSuccess: (id) => {
        setNamed(undefined);
        change({ view: id }, 'replace');
        notice(t('The view {name} is saved', { name: view.name }));
      },
      // In a dialog, the error is shown there.
      onError: ({ message }) => named === undefined && notice(<ProblemWords text={message} />, 'failed'),
    });
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <TextButton
            label={active ? viewLabel(active, isChanged) : t('Views')}
            variant={active ? 'light' : 'default'}
            icon="bookmark"
            className={active ? 'view-button is-set' : 'view-button'}
            title={active && viewLabel(active, isChanged)}
          />
        </Menu.Target>
        <Menu.Dropdown className="view-menu">
          <Menu.Item onClick={() => change({ ...SHOWN_RECORDS, view: ALL_RECORDS })}>
            {t('All records')}
          </Menu.Item>
          {views.map((one) => (
            <Menu.Item
              key={one.id}
              onClick={() => change({ ...toShownRecords(one), view: one.id })}
              leftSection={<Icon name={one.id === chosen ? 'check' : 'none'} size={14} />}
            >
              {one.name ?? one.id}
              <Text component="span" size="xs" c="dimmed" display="block">
                {[
                  one.owner?.id === viewer.id ? '' : t('By {name}', { name: one.owner?.label ?? '' }),
                  one.owner?.id === viewer.id && one.sharedWith?.length
                    ? t('Shared with {roles}', { roles: one.sharedWith.join(', ') })
                    : '',
                  one.isDefault ? t('Opens the collection') : '',
                ]
                  .filter((said) => said !== '')
                  .join(' · ')}
              </Text>
            </Menu.Item>
          ))}
          {rights.canCreate && (
            <>
              <Menu.Divider />
              <Menu.Item
                leftSection={<Icon name="plus" size={14} />}
                onClick={() => {
                  save.reset();
                  setNamed({ name: '', sharedWith: [], isDefault: false, shown });
                }}
              >
                {t('Save as view')}
              </Menu.Item>
            </>
          )}
          {active && isOwn && (
            <>
              <Menu.Item
                leftSection={<Icon name="check" size={14} />}
                disabled={!isChanged}
                onClick={() => keep({ ...toNamedView(active), shown })}
              >
                {t('Update this view')}
              </Menu.Item>
              <Menu.Item
                leftSection={<Icon name="settings" size={14} />}
                onClick={() => {
                  save.reset();
                  setNamed(toNamedView(active));
                }}
              >
                {t('Name and sharing of the view')}
              </Menu.Item>
              <Menu.Item leftSection={<Icon name="trash" size={14} />} onClick={() => setIsRemoving(true)}>
                {t('Remove the view')}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {named && (
        <SavedViewDialog
          view={named}
          of={save}
          theirs={theirs}
          onSave={(view) => keep({ ...view, stored: over })}
          onClose={() => setNamed(undefined)}
        />
      )}
      {active && isRemoving && (
        <ChangeDialog
          title={t('Remove the view')}
          action={t('Remove')}
          isDangerous
          change={RemoveSavedView}
          variables={{ id: active.id, version: active.version }}
          outdated={[SavedViewsOf]}
          onClose={() => setIsRemoving(false)}
          onDone={() => change({ view: ALL_RECORDS }, 'replace')}
        >
          {t('No one will have the view {name} any more. Records are not affected.', {
            name: active.name ?? '',
          })}
        </ChangeDialog>
      )}
    </>
  );
}

/** A star marks a view whose filter or order was changed. */
function viewLabel({ name, id }: SavedView, isChanged: boolean): string {
  return isChanged ? `${name ?? id} *` : (name ?? id);
}

function toNamedView(view: SavedView): NamedView {
  return {
    stored: { id: view.id, version: view.version },
    name: view.name ?? '',
    sharedWith: view.sharedWith ?? [],
    isDefault: view.isDefault ?? false,
    shown: toShownRecords(view),
  };
}

interface SavedViewDialogProps extends Pick<SubmitFormProps, 'of'> {
  readonly view: NamedView;
  /** The view as somebody else saved it in the meantime, if saving was rejected for that reason. */
  readonly theirs: SavedView | undefined;
  onSave(view: NamedView): void;
  onClose(): void;
}

/** The name of a view, its roles, and whether it is the default of the collection. */
function SavedViewDialog({ view, theirs, onSave, ...form }: SavedViewDialogProps) {
  const rights = useRights('saved_view');
  const [edited, setEdited] = useState(view);
  const name = edited.name.trim();
  return (
    <FormDialog
      title={view.stored === undefined ? t('Save as view') : t('Name and sharing of the view')}
      action={t('Save')}
      isReady={name !== ''}
      meanwhile={
        theirs && {
          changed: { collection: 'saved_view', id: theirs.id },
          theirs: [
            [t('Name'), theirs.name],
            [t('Shared with'), theirs.sharedWith?.join(', ')],
            [t('Filter'), theirs.oquery ?? theirs.where],
            [t('Columns'), theirs.columns?.join(', ')],
          ],
        }
      }
      onSubmit={() => onSave({ ...edited, name })}
      {...form}
    >
      <TextField
        label={t('Name')}
        description={view.stored === undefined && t('Keeps the current filter, search, sort and columns')}
        required
        maxLength={100}
        value={edited.name}
        onChange={(text) => setEdited({ ...edited, name: text })}
      />
      {rights?.creatableFields.includes('shared_with') && (
        <SharedWithInput
          value={edited.sharedWith}
          onChange={(sharedWith) => setEdited({ ...edited, sharedWith })}
        />
      )}
      <SwitchField
        label={t('Open the collection with this view')}
        checked={edited.isDefault}
        onChange={(isOn) => setEdited({ ...edited, isDefault: isOn })}
      />
    </FormDialog>
  );
}

type SavedView = SavedViewsOfQuery['savedViews']['nodes'][number];

/**
 * Reads the views of a collection that the viewer owns, or that are shared with a role of the viewer.
 * `undefined` until they are loaded; empty if the viewer may not read any.
 */
export function useSavedViews(collection: string): readonly SavedView[] | undefined {
  const { id, roles } = useViewer();
  const mayRead = useRights('saved_view')?.canRead === true;
  const { data, error } = useOperation(SavedViewsOf, { collection, user: id, roles }, { isEnabled: mayRead });
  return mayRead && !error ? data?.savedViews.nodes : [];
}

interface NamedView {
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
function useSaveView(collection: string) {
  const gateway = useGateway();
  const askAnew = useAskAnew();
  const viewer = useViewer();
  const rights = useRights('saved_view');
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
    onSettled: () => askAnew([SavedViewsOf]),
  });
}
