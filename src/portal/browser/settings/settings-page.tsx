/** The settings of the school that the gateway reads, and its branches. */
import { Code, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { SchoolSettings, type ShownPropertyFragment } from '../../../generated/portal/settings/settings';
import { BranchesSection } from '../branches/branches-section';
import { useOperation } from '../gateway/use-gateway';
import { phrase, useTexts } from '../language/use-texts';
import { Answered } from '../shell/answered';
import { FormDialog } from '../shell/change-dialog';
import { CodeSpans } from '../shell/code-to-copy';
import { StateTag } from '../shell/icon';
import { ActionsHead, ListTable } from '../shell/list-table';
import { FindInput, useAddress } from '../shell/page-filter';
import { EmptyState, PageFrame } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { PropertyDialog } from './property-dialog';
import { groupSettings, type SettingGroup, type SettingSubject } from './setting-groups';
import { useSettingWords } from './use-setting-words';

/** A template that is not set yet, with the texts that it may contain. */
function newTemplate(name: string): ShownPropertyFragment {
  return {
    name: `mailTemplate.${name}`,
    description: '',
    kind: 'JSON' as ShownPropertyFragment['kind'],
    expected: '{"subject": …, "text": …, "html": …}',
    choices: null,
    defaultValue: null,
    value: { subject: '', text: '' },
    ...{ isSet: false, isInherited: false, isSecret: false, isSettable: true },
    etag: 'none',
  };
}

export function SettingsPage() {
  const t = useTexts();
  const [{ find }, change] = useAddress({ find: '' });
  const [edited, setEdited] = useState<ShownPropertyFragment>();
  const [isNaming, setIsNaming] = useState(false);
  const answer = useOperation(SchoolSettings, {});
  const properties = answer.data?.domainProperties;
  const { titleOf, say } = useSettingWords();
  const words = find.toLowerCase();
  const found = properties?.filter(({ name, description }) =>
    [name, titleOf(name), say(description)].join(' ').toLowerCase().includes(words),
  );
  return (
    <PageFrame
      title={t('Settings')}
      description={t('How this school works')}
      actions={
        <TextButton label={t('New mail template')} isMain icon="plus" onClick={() => setIsNaming(true)} />
      }
    >
      <Stack gap="lg">
        <FindInput
          label={t('Find a setting')}
          value={find}
          onFind={(text) => change({ find: text }, 'replace')}
          maxWidth={360}
        />
        <Answered of={answer}>
          {() => found?.length === 0 && <EmptyState icon="search" title={t('No settings match')} />}
        </Answered>
        {groupSettings(found ?? []).map((group) => (
          <SettingsSection key={group.subject} group={group} onEdit={setEdited} />
        ))}
        <BranchesSection />
      </Stack>
      {isNaming && (
        // Nothing is stored until the texts of the template are saved.
        <FormDialog
          title={t('New mail template')}
          action={t('Go on')}
          onClose={() => setIsNaming(false)}
          onSubmit={({ name = '' }) => {
            setIsNaming(false);
            setEdited(newTemplate(name));
          }}
        >
          <TextInput
            label={t('Name')}
            description={t('Letters, digits, _, . and -. Used to pick the template when sending.')}
            name="name"
            pattern="[A-Za-z0-9_.\-]{1,80}"
            required
          />
        </FormDialog>
      )}
      {edited && (
        <PropertyDialog
          key={edited.name}
          property={edited}
          now={properties?.find(({ name }) => name === edited.name)}
          onClose={() => setEdited(undefined)}
        />
      )}
    </PageFrame>
  );
}

const TITLES: Readonly<Record<SettingSubject, string>> = {
  school: phrase('About the school'),
  year: phrase('Year and attendance'),
  results: phrase('Results'),
  fees: phrase('Fees and accounts'),
  messages: phrase('Emails and text messages'),
  data: phrase('History and live data'),
  templates: phrase('Mail templates'),
  others: phrase('Other settings'),
};

interface SettingsSectionProps {
  readonly group: SettingGroup<ShownPropertyFragment>;
  onEdit(property: ShownPropertyFragment): void;
}

function SettingsSection({ group, onEdit }: SettingsSectionProps) {
  const t = useTexts();
  const { titleOf, say } = useSettingWords();
  const title = t(TITLES[group.subject]);
  return (
    <section>
      <Title mb="xs">{title}</Title>
      <ListTable<ShownPropertyFragment>
        label={title}
        className="stacked-table settings-table"
        rows={group.settings}
        columns={[
          [
            t('Setting'),
            ({ name, description }) => (
              <>
                <Text fw={600} className="wrapped">
                  {titleOf(name)}
                </Text>
                <Text c="dimmed">
                  <CodeSpans text={say(description)} />
                </Text>
                <Text size="xs" c="dimmed" ff="monospace" className="wrapped">
                  {name}
                </Text>
              </>
            ),
          ],
          [t('Value'), (property) => <PropertyInForce property={property} />, 'value-column'],
          [
            t('From'),
            (property) => <StateTag state={property.isSet ? 'changed' : ''}>{placeOf(property, t)}</StateTag>,
            'from-column',
          ],
          [
            <ActionsHead key="actions" />,
            (property) =>
              property.isSettable ? (
                <TextButton
                  label={t('Change')}
                  size="compact-sm"
                  onClick={() => onEdit(property)}
                  aria-label={t('Change {name}', { name: titleOf(property.name) })}
                />
              ) : (
                <Text size="xs" c="dimmed">
                  {t('Set by the operator of the gateway')}
                </Text>
              ),
            'action-column',
          ],
        ]}
      />
    </section>
  );
}

function placeOf(
  { isSet, isInherited, defaultValue }: ShownPropertyFragment,
  t: ReturnType<typeof useTexts>,
): string {
  if (!isSet) return defaultValue === null ? t('Not set') : t('Default');
  return isInherited ? t('The main school') : t('Set here');
}

function PropertyInForce({ property }: { readonly property: ShownPropertyFragment }) {
  const t = useTexts();
  const { sayValue } = useSettingWords();
  if (property.isSecret) return <Text>{t('Set, but never shown')}</Text>;
  const text = sayValue(property);
  if (property.kind === 'JSON' && /^[[{]/.test(text)) return <Code className="wrapped">{text}</Code>;
  return <Text className="wrapped">{text || '–'}</Text>;
}
