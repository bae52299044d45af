import { Button, Stack, Switch, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { ChangedMeanwhile } from '../shell/changed-meanwhile';
import { InputDialog } from '../shell/confirm-dialog';
import { SharedWithInput } from '../shell/shared-with-input';
import { ProblemState } from '../shell/states';
import { useViewer } from '../shell/viewer';
import type { NamedView, SavedView } from './use-saved-views';

export interface SavedViewDialogProps {
  readonly view: NamedView;
  readonly isBusy: boolean;
  readonly problem: Error | null;
  /** The view as somebody else saved it in the meantime, if saving was rejected for that reason. */
  readonly theirs: SavedView | undefined;
  onSave(view: NamedView): void;
  onClose(): void;
}

/** The name of a view, its roles, and whether it is the default of the collection. */
export function SavedViewDialog({ view, isBusy, problem, theirs, onSave, onClose }: SavedViewDialogProps) {
  const t = useTexts();
  const rights = useViewer().collections.find(({ name }) => name === 'saved_view');
  const [edited, setEdited] = useState(view);
  const name = edited.name.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave({ ...edited, name });
  };
  return (
    <InputDialog
      opened
      onClose={onClose}
      title={view.stored === undefined ? t('Save as view') : t('Name and sharing of the view')}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('Name')}
            description={view.stored === undefined && t('Keeps the current filter, search, sort and columns')}
            required
            maxLength={100}
            value={edited.name}
            onChange={({ currentTarget }) => setEdited({ ...edited, name: currentTarget.value })}
          />
          {rights?.creatableFields.includes('shared_with') && (
            <SharedWithInput
              value={edited.sharedWith}
              onChange={(sharedWith) => setEdited({ ...edited, sharedWith })}
            />
          )}
          <Switch
            label={t('Open the collection with this view')}
            checked={edited.isDefault}
            onChange={({ currentTarget }) => setEdited({ ...edited, isDefault: currentTarget.checked })}
          />
          {theirs && (
            <ChangedMeanwhile
              changed={{ collection: 'saved_view', id: theirs.id }}
              theirs={[
                [t('Name'), theirs.name],
                [t('Shared with'), theirs.sharedWith?.join(', ')],
                [t('Filter'), theirs.oquery ?? theirs.where],
                [t('Columns'), theirs.columns?.join(', ')],
              ]}
            />
          )}
          {problem && !theirs && <ProblemState problem={problem} />}
          <Button type="submit" loading={isBusy} disabled={name === ''}>
            {t('Save')}
          </Button>
        </Stack>
      </form>
    </InputDialog>
  );
}
