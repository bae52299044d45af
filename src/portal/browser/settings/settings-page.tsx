/** The settings of the school that the gateway reads, and its branches. */
import { Button, Code, Stack, Table, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import { SchoolSettings, type ShownPropertyFragment } from '../../../generated/portal/settings/settings';
import { BranchesSection } from '../branches/branches-section';
import { useOperation } from '../gateway/use-gateway';
import { phrase, useTexts } from '../language/use-texts';
import { CodeSpans } from '../shell/code-to-copy';
import { Icon, StateTag } from '../shell/icon';
import { FindInput, useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { PropertyDialog, TemplateDialog } from './property-dialog';
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
  const { data, error, refetch } = useOperation(SchoolSettings, {});
  const { titleOf, say } = useSettingWords();
  const words = find.toLowerCase();
  const found = data?.domainProperties.filter(({ name, description }) =>
    [name, titleOf(name), say(description)].join(' ').toLowerCase().includes(words),
  );
  return (
    <PageFrame
      title={t('Settings')}
      description={t('How this school works')}
      actions={
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setIsNaming(true)}>
          {t('New mail template')}
        </Button>
      }
    >
      <Stack gap="lg">
        <FindInput
          label={t('Find a setting')}
          value={find}
          onFind={(text) => change({ find: text }, 'replace')}
          maxWidth={360}
        />
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!data && !error && <LoadingState />}
        {found?.length === 0 && <EmptyState icon="search" title={t('No settings match')} />}
        {groupSettings(found ?? []).map((group) => (
          <SettingsSection key={group.subject} group={group} onEdit={setEdited} />
        ))}
        <BranchesSection />
      </Stack>
      {isNaming && (
        <TemplateDialog
          onName={(name) => {
            setIsNaming(false);
            setEdited(newTemplate(name));
          }}
          onClose={() => setIsNaming(false)}
        />
      )}
      {edited && (
        <PropertyDialog
          key={edited.name}
          property={edited}
          now={data?.domainProperties.find(({ name }) => name === edited.name)}
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
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" mb="xs" id={heading}>
        {t(TITLES[group.subject])}
      </Title>
      <SettingsTable properties={group.settings} heading={heading} onEdit={onEdit} />
    </section>
  );
}

interface SettingsTableProps {
  readonly properties: readonly ShownPropertyFragment[];
  /** The id of the heading above the table. */
  readonly heading: string;
  onEdit(property: ShownPropertyFragment): void;
}

function SettingsTable({ properties, heading, onEdit }: SettingsTableProps) {
  const t = useTexts();
  const { titleOf, say } = useSettingWords();
  return (
    <Table className="stacked-table settings-table" verticalSpacing="sm" aria-labelledby={heading}>
      <colgroup>
        <col />
        <col className="value-column" />
        <col className="from-column" />
        <col className="action-column" />
      </colgroup>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('Setting')}</Table.Th>
          <Table.Th>{t('Value')}</Table.Th>
          <Table.Th>{t('From')}</Table.Th>
          <Table.Th>
            <span className="visually-hidden">{t('Actions')}</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {properties.map((property) => (
          <Table.Tr key={property.name}>
            <Table.Td maw={420}>
              <Text size="sm" fw={600} className="wrapped">
                {titleOf(property.name)}
              </Text>
              <Text size="sm" c="dimmed">
                <CodeSpans text={say(property.description)} />
              </Text>
              <Text size="xs" c="dimmed" ff="monospace" className="wrapped">
                {property.name}
              </Text>
            </Table.Td>
            <Table.Td data-label={t('Value')} maw={360}>
              <PropertyInForce property={property} />
            </Table.Td>
            <Table.Td data-label={t('From')}>
              <StateTag state={property.isSet ? 'changed' : ''}>{placeOf(property, t)}</StateTag>
            </Table.Td>
            <Table.Td>
              {property.isSettable ? (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => onEdit(property)}
                  aria-label={t('Change {name}', { name: titleOf(property.name) })}
                >
                  {t('Change')}
                </Button>
              ) : (
                <Text size="xs" c="dimmed">
                  {t('Set by the operator of the gateway')}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
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
  if (property.isSecret) return <Text size="sm">{t('Set, but never shown')}</Text>;
  const text = sayValue(property);
  if (property.kind === 'JSON' && /^[[{]/.test(text)) return <Code className="wrapped">{text}</Code>;
  return (
    <Text size="sm" className="wrapped">
      {text || '–'}
    </Text>
  );
}
