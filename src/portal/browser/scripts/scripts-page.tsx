/** The scripts of the school with their triggers. */
import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ScriptOutlineFragment, ScriptsOfSchool } from '../../../generated/portal/scripts/scripts';
import { useOperation } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { NameDialog } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { ListPage, ListTable } from '../shell/list-table';
import { TextLink } from '../shell/text-button';
import { useUserNames } from '../shell/use-record-labels';
import { describeTriggers } from './script-editor';

export function ScriptsPage() {
  const navigate = useNavigate();
  const answer = useOperation(ScriptsOfSchool, {});
  const nameOf = useUserNames(answer.data?.scripts.map(({ updatedBy }) => updatedBy) ?? []);
  return (
    <ListPage
      title={t('Scripts')}
      description={t('JavaScript that runs on request, on a schedule, or when records change')}
      of={answer}
      rowsOf={({ scripts }) => scripts}
      empty={{
        icon: 'code',
        title: t('No scripts yet'),
        about: t(
          'A script can check records before they are saved, send a report every evening or answer requests.',
        ),
      }}
      create={{
        label: t('New script'),
        first: t('Write the first one'),
        dialog: (close) => (
          <NameDialog
            title={t('New script')}
            action={t('Create script')}
            description={t('Lower-case letters, digits and hyphens. Programs use this name.')}
            onName={(name) => void navigate({ to: `/portal/scripts/${encodeURIComponent(name)}` })}
            onClose={close}
          />
        ),
      }}
    >
      {(scripts) => (
        <ListTable<ScriptOutlineFragment>
          label={t('Scripts')}
          rows={scripts}
          columns={[
            [
              t('Name'),
              ({ name, description }) => (
                <>
                  <TextLink to={`/portal/scripts/${name}`} fw={600}>
                    {name}
                  </TextLink>
                  <Text c="dimmed" className="wrapped">
                    {description}
                  </Text>
                </>
              ),
            ],
            [t('Triggers'), (script) => describeTriggers(script).join(', ') || '–', 'wrapped'],
            [
              t('State'),
              ({ isEnabled }) => (
                <StateTag state={isEnabled ? 'on' : 'off'}>
                  {isEnabled ? t('Enabled') : t('Disabled')}
                </StateTag>
              ),
            ],
            [t('Version'), ({ version }) => version, 'numeric'],
            [
              t('Saved'),
              ({ updatedAt, updatedBy }) => (
                <div>
                  {formats.instant(updatedAt)}
                  <Text size="xs" c="dimmed">
                    {nameOf(updatedBy)}
                  </Text>
                </div>
              ),
            ],
          ]}
        />
      )}
    </ListPage>
  );
}
