/** The scripts of the school with their triggers. */
import { Anchor, Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ScriptsOfSchool } from '../../../generated/portal/scripts/scripts';
import { useOperation } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { InputDialog } from '../shell/confirm-dialog';
import { Icon, StateTag } from '../shell/icon';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { useUserNames } from '../shell/use-record-labels';
import { describeTriggers } from './trigger-fields';

export function ScriptsPage() {
  const t = useTexts();
  const formats = useFormats();
  const [isMaking, setIsMaking] = useState(false);
  const { data, error, refetch } = useOperation(ScriptsOfSchool, {});
  const nameOf = useUserNames(data?.scripts.map(({ updatedBy }) => updatedBy) ?? []);
  return (
    <PageFrame
      title={t('Scripts')}
      description={t('JavaScript that runs on request, on a schedule, or when records change')}
      actions={
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setIsMaking(true)}>
          {t('New script')}
        </Button>
      }
    >
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data?.scripts.length === 0 && (
        <EmptyState
          icon="code"
          title={t('No scripts yet')}
          action={<Button onClick={() => setIsMaking(true)}>{t('Write the first one')}</Button>}
        >
          {t(
            'A script can check records before they are saved, send a report every evening or answer requests.',
          )}
        </EmptyState>
      )}
      {data && data.scripts.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard.
        <section className="table-scroll" tabIndex={0} aria-label={t('Scripts')}>
          <Table className="stacked-table" verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('Name')}</Table.Th>
                <Table.Th>{t('Triggers')}</Table.Th>
                <Table.Th>{t('State')}</Table.Th>
                <Table.Th className="numeric">{t('Version')}</Table.Th>
                <Table.Th>{t('Saved')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.scripts.map((script) => (
                <Table.Tr key={script.name}>
                  <Table.Td>
                    <Anchor component={Link} to={`/portal/scripts/${script.name}`} size="sm" fw={600}>
                      {script.name}
                    </Anchor>
                    <Text size="sm" c="dimmed" className="wrapped">
                      {script.description}
                    </Text>
                  </Table.Td>
                  <Table.Td className="wrapped" data-label={t('Triggers')}>
                    {describeTriggers(script, t).join(', ') || '–'}
                  </Table.Td>
                  <Table.Td data-label={t('State')}>
                    <StateTag state={script.isEnabled ? 'on' : 'off'}>
                      {script.isEnabled ? t('Enabled') : t('Disabled')}
                    </StateTag>
                  </Table.Td>
                  <Table.Td className="numeric" data-label={t('Version')}>
                    {script.version}
                  </Table.Td>
                  <Table.Td data-label={t('Saved')}>
                    <div>
                      {formats.instant(script.updatedAt)}
                      <Text size="xs" c="dimmed">
                        {nameOf(script.updatedBy)}
                      </Text>
                    </div>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
      {isMaking && <NewScriptDialog onClose={() => setIsMaking(false)} />}
    </PageFrame>
  );
}

/** Nothing is stored until the script is saved on its page. */
function NewScriptDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: `/portal/scripts/${encodeURIComponent(name.trim())}` });
  };
  return (
    <InputDialog opened onClose={onClose} title={t('New script')}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('Name')}
            description={t('Lower-case letters, digits and hyphens. Programs use this name.')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
          />
          <Group justify="flex-end">
            <Button type="submit">{t('Create script')}</Button>
          </Group>
        </Stack>
      </form>
    </InputDialog>
  );
}
