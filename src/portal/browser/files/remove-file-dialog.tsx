import { RemoveFile } from '../../../generated/portal/files/files';
import { useChange } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { ConfirmDialog } from '../shell/confirm-dialog';

export interface RemoveFileDialogProps {
  readonly file: { readonly id: string; readonly name: string };
  /** The queries that list the file. */
  readonly outdated: readonly { readonly name: string }[];
  onRemoved(): void;
  onClose(): void;
}

/**
 * Warns before a file is removed that it cannot be restored, because the gateway keeps no versions of files.
 */
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
