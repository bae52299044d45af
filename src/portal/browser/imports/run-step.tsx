/** The last step: what was written, the way to it, and the way back. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type ShownImportFragment, UndoChange } from '../../../generated/portal/imports/imports';
import { useGateway } from '../gateway/gateway-context';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { Icon } from '../shell/icon';
import { useNotice } from '../shell/use-notice';
import { ImportFaults } from './import-faults';
import { RowCounts } from './row-counts';

export function RunStep({ one }: { readonly one: ShownImportFragment }) {
  const t = useTexts();
  const { counts, collection, changeIds } = one;
  return (
    <Stack gap="lg">
      <RowCounts counts={counts} />
      <ScriptsThatRan scripts={one.scripts} />
      <Group>
        <Button component={Link} to={`/portal/records/${collection}`}>
          {t('See the records')}
        </Button>
        {changeIds.length > 0 && <UndoButton one={one} />}
        <Button variant="default" component={Link} to={`/portal/imports?collection=${collection}`}>
          {t('Another file')}
        </Button>
      </Group>
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

/** Each part of an import is a change of its own; they are taken back from the last to the first. */
function UndoButton({ one }: { readonly one: ShownImportFragment }) {
  const t = useTexts();
  const formats = useFormats();
  const notice = useNotice();
  const gateway = useGateway();
  const queries = useQueryClient();
  const [isAsked, setIsAsked] = useState(false);
  const [undone, setUndone] = useState(0);
  const { counts, changeIds } = one;
  const undo = useMutation({
    mutationFn: async () => {
      for (const requestId of changeIds.toReversed().slice(undone)) {
        await gateway.execute(UndoChange, { requestId });
        setUndone((before) => before + 1);
      }
    },
    onSuccess: async () => {
      setIsAsked(false);
      notice(t('The import is undone.'));
      await queries.invalidateQueries();
    },
  });
  const isUndone = undone === changeIds.length;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="undo" />}
        disabled={isUndone}
        onClick={() => setIsAsked(true)}
      >
        {isUndone ? t('Undone') : t('Undo the import')}
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={t('Undo this import?')}
          action={t('Undo the import')}
          isDangerous
          isBusy={undo.isPending}
          problem={undo.error}
          onConfirm={() => undo.mutate()}
          onClose={() => setIsAsked(false)}
        >
          <Text size="sm">
            {t('Records it made are removed: {count}', { count: formats.number(counts.created) })}
            <br />
            {t('Records it changed are as before: {count}', { count: formats.number(counts.updated) })}
            <br />
            {t('Records it removed are there again: {count}', { count: formats.number(counts.removed) })}
          </Text>
          {changeIds.length > 1 && (
            <Text size="sm" mt="xs" role="status">
              {t('{done} of {all} parts are undone.', { done: undone, all: changeIds.length })}
            </Text>
          )}
        </ConfirmDialog>
      )}
    </>
  );
}
