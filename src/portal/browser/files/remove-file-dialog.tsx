import { RemoveFile } from '../../../generated/portal/files/files';
import { useChange } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { ConfirmDialog } from '../shell/confirm-dialog';

export interface RemoveFileDialogProps {
  readonly file: { readonly id: string; readonly name: string };
  /** The queries that list it. */
  readonly outdated: readonly { readonly name: string }[];
  onRemoved(): void;
  onClose(): void;
}

/** Says before a file is removed that nothing brings it back: the gateway keeps no version of a file. */
export function RemoveFileDialog({ file, outdated, onRemoved, onClose }: RemoveFileDialogProps) {
  const t = useTexts();
  const remove = useChange(RemoveFile, outdated);
  return (
    <ConfirmDialog
      title={t('Remove {name}', { name: file.name })}
      action={t('Remove')}
      isDangerous
      isBusy={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate({ id: file.id }, { onSuccess: onRemoved })}
      onClose={onClose}
    >
      {t('The file is deleted for everyone. This cannot be undone.')}
    </ConfirmDialog>
  );
}
