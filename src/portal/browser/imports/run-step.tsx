/** The last step: runs the import, shows what was written, and can undo it. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ImportNow,
  type ShownImportFragment,
  UndoPreviewOfImport,
  UndoWholeImport,
} from '../../../generated/portal/imports/imports';
import { useChange, useOperation } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { Icon, WarningNotice } from '../shell/icon';
import { LoadingState } from '../shell/states';
import { ImportFaults } from './import-faults';
import { RowCounts } from './import-progress';
import { useMayUndo } from './use-may-undo';

export function RunStep({ one }: { readonly one: ShownImportFragment }) {
  const t = useTexts();
  const { counts, collection, changeIds, state } = one;
  const mayUndo = useMayUndo(collection, counts);
  const canBeUndone = changeIds.length > 0 && state !== 'UNDONE';
  return (
    <Stack gap="lg">
      <RowCounts counts={counts} />
      <ScriptsThatRan scripts={one.scripts} />
      <Group>
        <Button component={Link} to={`/portal/records/${collection}`}>
          {t('See the records')}
        </Button>
        {canBeUndone && mayUndo && <UndoButton one={one} />}
        <Button variant="default" component={Link} to={`/portal/imports?collection=${collection}`}>
          {t('Another file')}
        </Button>
      </Group>
      {canBeUndone && !mayUndo && (
        <Text size="sm" c="dimmed">
          {t('Only someone who may change and remove these records can undo it.')}
        </Text>
      )}
      {counts.refused > 0 && <ImportFaults id={one.id} refused={counts.refused} />}
    </Stack>
  );
}

function ScriptsThatRan({ scripts }: { readonly scripts: unknown }) {
  const t = useTexts();
  const { before = [], after = [] } = (scripts ?? {}) as {
    readonly before?: readonly string[];
    readonly after?: readonly string[];
  };
  const names = [...before, ...after];
  if (names.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {t('Scripts that ran: {names}', { names: names.join(', ') })}
    </Text>
  );
}

/** The effect of undoing is computed on request. Records that were changed later prevent it. */
function UndoButton({ one }: { readonly one: ShownImportFragment }) {
  const t = useTexts();
  const formats = useFormats();
  const [isAsked, setIsAsked] = useState(false);
  const { id, collection } = one;
  const { data, error } = useOperation(UndoPreviewOfImport, { id }, { isEnabled: isAsked });
  const undo = useChange(UndoWholeImport, [ImportNow]);
  const preview = data?.importUndoPreview;
  return (
    <>
      <Button variant="default" leftSection={<Icon name="undo" />} onClick={() => setIsAsked(true)}>
        {t('Undo the import')}
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={t('Undo this import?')}
          action={t('Undo the import')}
          isDangerous
          isBusy={undo.isPending}
          problem={undo.error ?? error}
          onConfirm={() => undo.mutate({ id }, { onSuccess: () => setIsAsked(false) })}
          onClose={() => setIsAsked(false)}
        >
          {!preview && !error && <LoadingState rows={3} />}
          {preview && (
            <Text size="sm">
              {t('Records it created will be removed: {count}', { count: formats.number(preview.removed) })}
              <br />
              {t('Records it changed will be restored: {count}', { count: formats.number(preview.changed) })}
              <br />
              {t('Records it removed will come back: {count}', {
                count: formats.number(preview.broughtBack),
              })}
            </Text>
          )}
          {preview && preview.conflictCount > 0 && (
            <WarningNotice
              title={t('{count, plural, one {# record was} other {# records were}} changed since', {
                count: preview.conflictCount,
              })}
            >
              {t('Nothing can be undone while this is so:')}{' '}
              {preview.conflicts.slice(0, 10).map((conflict) => (
                <Anchor
                  key={conflict.id}
                  component={Link}
                  to={`/portal/records/${collection}/${encodeURIComponent(conflict.id)}`}
                  size="sm"
                  mr="xs"
                >
                  {conflict.id}
                </Anchor>
              ))}
            </WarningNotice>
          )}
          {preview && preview.usedBy.length > 0 && (
            <WarningNotice title={t('Records it created are in use')}>
              {t('Nothing can be undone while this is so:')} {preview.usedBy.join(', ')}
            </WarningNotice>
          )}
        </ConfirmDialog>
      )}
    </>
  );
}
