/** The settings of the school that the gateway reads, and its branches. */

import { Code, Input, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import {
  RemoveSchoolSetting,
  SchoolSettings,
  SetSchoolSetting,
  type ShownPropertyFragment,
} from '../../../generated/portal/settings/settings';
import { BranchesSection } from '../branches/branches-section';
import { LazyCodeEditor } from '../editor/lazy-editor';
import { parseExactly, printExactly } from '../gateway/long-number';
import { useChange, useOperation } from '../gateway/use-gateway';
import { formats, phrase, say, t } from '../language/texts';
import { CodeSpans } from '../shell/code-to-copy';
import { DialogButton, FormDialog, NameDialog, notice, savedOver } from '../shell/confirm-dialog';
import { findJsonFault } from '../shell/find-json-fault';
import { StateTag } from '../shell/icon';
import { ActionsHead, ListSection } from '../shell/list-table';
import { FindInput, useAddress } from '../shell/page-filter';
import { Answered, EmptyState, PageFrame } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { ChoiceField, TextField } from '../shell/text-field';
import { groupSettings, SETTING_TITLES, type SettingGroup, type SettingSubject } from './setting-groups';

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
  const [{ find }, , field] = useAddress({ find: '' });
  const [edited, setEdited] = useState<ShownPropertyFragment>();
  const answer = useOperation(SchoolSettings, {});
  const properties = answer.data?.domainProperties;
  const words = find.toLowerCase();
  const found = properties?.filter(({ name, description }) =>
    [name, titleOf(name), say(description)].join(' ').toLowerCase().includes(words),
  );
  return (
    <PageFrame
      title={t('Settings')}
      description={t('How this school works')}
      actions={
        <DialogButton
          label={t('New mail template')}
          isMain
          icon="plus"
          dialog={(close) => (
            <NameDialog
              title={t('New mail template')}
              action={t('Continue')}
              description={t('Letters, digits, _, . and -. Used to pick the template when sending.')}
              pattern="[A-Za-z0-9_.\-]{1,80}"
              onName={(name) => {
                close();
                setEdited(newTemplate(name));
              }}
              onClose={close}
            />
          )}
        />
      }
    >
      <Stack gap="lg">
        <FindInput label={t('Find a setting')} {...field('find')} maw={360} />
        <Answered of={answer}>
          {() => found?.length === 0 && <EmptyState icon="search" title={t('No settings match')} />}
        </Answered>
        {groupSettings(found ?? []).map((group) => (
          <SettingsSection key={group.subject} group={group} onEdit={setEdited} />
        ))}
        <BranchesSection />
      </Stack>
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
  return (
    <ListSection<ShownPropertyFragment>
      label={t(TITLES[group.subject])}
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
          (property) => <StateTag state={property.isSet ? 'changed' : ''}>{placeOf(property)}</StateTag>,
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
  );
}

function placeOf({ isSet, isInherited, defaultValue }: ShownPropertyFragment): string {
  if (!isSet) return defaultValue === null ? t('Not set') : t('Default');
  return isInherited ? t('The main school') : t('Set here');
}

function PropertyInForce({ property }: { readonly property: ShownPropertyFragment }) {
  if (property.isSecret) return <Text>{t('Set, but never shown')}</Text>;
  const text = sayValue(property);
  if (property.kind === 'JSON' && /^[[{]/.test(text)) return <Code className="wrapped">{text}</Code>;
  return <Text className="wrapped">{text || '–'}</Text>;
}

const MAIL_TEMPLATE = /^mailTemplate\.(.+)$/;

/** The title of a setting. Settings of the school's own scripts keep their names. */
function titleOf(name: string): string {
  const template = MAIL_TEMPLATE.exec(name)?.[1];
  if (template !== undefined) return t('Mail template {name}', { name: template });
  return say(SETTING_TITLES[name] ?? name);
}

/** The value in force, as text: `["SU"]` is Sunday. */
function sayValue(property: ShownPropertyFragment): string {
  const value: unknown = property.isSet ? property.value : property.defaultValue;
  return WORDS[property.name]?.(value) ?? sayBoolean(value) ?? valueInForce(property);
}

/** By the settings whose values are codes. `undefined` for an invalid value. */
const WORDS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  sessionFirstMonth: sayMonth,
  weeklyOffs: (value) => sayList(value, sayDayOff),
  grades: (value) => sayList(value, sayGrade),
};

function sayBoolean(value: unknown): string | undefined {
  if (typeof value !== 'boolean') return undefined;
  return value ? t('Yes') : t('No');
}

function sayMonth(value: unknown): string | undefined {
  if (typeof value !== 'number') return undefined;
  return new Intl.DateTimeFormat(formats.locale, { month: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2024, value - 1),
  );
}

/** `undefined` if one of the members is invalid. */
function sayList(value: unknown, sayOne: (one: unknown) => string | undefined): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const said = value.map(sayOne);
  return said.includes(undefined) ? undefined : said.join(', ');
}

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
/** 7 January 2024 was a Sunday. */
const FIRST_SUNDAY = 7;

const NTH = [
  phrase('the first {day} of a month'),
  phrase('the second {day} of a month'),
  phrase('the third {day} of a month'),
  phrase('the fourth {day} of a month'),
  phrase('the fifth {day} of a month'),
];

/** `SU`, or `2SA`. */
function sayDayOff(value: unknown): string | undefined {
  const [, nth, code = ''] = /^([1-5]?)(\w\w)$/.exec(String(value)) ?? [];
  const index = DAYS.indexOf(code);
  if (index === -1) return undefined;
  const day = new Intl.DateTimeFormat(formats.locale, { weekday: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2024, 0, FIRST_SUNDAY + index),
  );
  const ofMonth = NTH[Number(nth) - 1];
  return ofMonth === undefined ? day : t(ofMonth, { day });
}

function sayGrade(value: unknown): string | undefined {
  const { from, grade } = (value ?? {}) as { readonly from?: unknown; readonly grade?: unknown };
  if (typeof from !== 'number' || typeof grade !== 'string') return undefined;
  return t('{grade} from {from} %', { grade, from });
}

type PropertyForm = Pick<ShownPropertyFragment, 'kind'>;

/** The value of a setting as it is shown and edited: texts unchanged, other values as JSON. */
function printProperty({ kind }: PropertyForm, value: unknown): string {
  if (value === null || value === undefined) return '';
  return kind === 'TEXT' && typeof value === 'string' ? value : printExactly(value);
}

/** The set value, otherwise the default, as `printProperty` shows it. */
function valueInForce(property: ShownPropertyFragment): string {
  return printProperty(property, property.isSet ? property.value : property.defaultValue);
}

/** Parses the input to the value to send. `undefined` for invalid JSON. */
function parseProperty({ kind }: PropertyForm, text: string): unknown {
  if (kind === 'TEXT') return text;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

interface PropertyDialogProps {
  /** The setting when the dialog was opened. */
  readonly property: ShownPropertyFragment;
  readonly now: ShownPropertyFragment | undefined;
  onClose(): void;
}

function PropertyDialog({ property, now, onClose }: PropertyDialogProps) {
  const { name, description, value, defaultValue, isSet, isInherited, isSecret } = property;
  const title = titleOf(name);
  // The input starts with the default, so that a change of one grade keeps the other eight.
  const [text, setText] = useState(printProperty(property, value ?? defaultValue));
  const set = useChange(SetSchoolSetting, [SchoolSettings]);
  const remove = useChange(RemoveSchoolSetting, [SchoolSettings]);
  const problem = set.error ?? remove.error;
  const { over, theirs } = savedOver(property, now, problem);
  const ifMatch = over.etag;
  const parsed = parseProperty(property, text);
  const fault = parsed === undefined && text !== '' ? findJsonFault(text) : undefined;
  const done = (words: string) => {
    notice(words);
    onClose();
  };
  return (
    <FormDialog
      title={title}
      action={t('Save')}
      of={{ ...set, error: problem }}
      isReady={text !== '' && parsed !== undefined}
      meanwhile={
        theirs && {
          changed: { collection: '$property', id: name },
          theirs: [[t('Value'), theirs.isSecret ? t('Set, but never shown') : valueInForce(theirs)]],
        }
      }
      onClose={onClose}
      onSubmit={() => {
        remove.reset();
        set.mutate(
          { name, value: parsed, ifMatch },
          { onSuccess: () => done(t('{name} is saved.', { name: title })) },
        );
      }}
      note={
        isSet &&
        !isInherited && (
          <TextButton
            label={t('Reset to default')}
            mr="auto"
            loading={remove.isPending}
            onClick={() =>
              remove.mutate(
                { name, ifMatch },
                { onSuccess: () => done(t('{name} is reset.', { name: title })) },
              )
            }
          />
        )
      }
    >
      <Text component="div">
        <CodeSpans text={say(description)} />
      </Text>
      {isSecret && <Text>{t('The value is never shown, and neither is the one you set now.')}</Text>}
      <PropertyControl
        property={property}
        text={text}
        error={fault && t('Invalid JSON: line {line, number}, column {column, number}', { ...fault })}
        onChange={setText}
      />
    </FormDialog>
  );
}

interface PropertyControlProps {
  readonly property: ShownPropertyFragment;
  readonly text: string;
  readonly error: string | undefined;
  onChange(text: string): void;
}

function PropertyControl({ property, text, error, onChange }: PropertyControlProps) {
  const { kind, expected, choices } = property;
  const common = {
    label: t('Value'),
    value: text,
    error,
    onChange,
  };
  const offered = kind === 'BOOLEAN' ? ['true', 'false'] : choices;
  if (offered) {
    const names: Readonly<Record<string, string>> = { true: t('Yes'), false: t('No') };
    const data = offered.map((value) => ({
      value,
      label: kind === 'BOOLEAN' ? (names[value] ?? '') : value,
    }));
    return <ChoiceField {...common} data={[{ value: '', label: t('Choose one') }, ...data]} />;
  }
  const description = t('Expected: {expected}', { expected: say(expected) });
  if (kind === 'JSON') {
    return (
      <Input.Wrapper label={common.label} description={description} error={error}>
        <LazyCodeEditor label={common.label} value={text} language="json" onChange={onChange} />
      </Input.Wrapper>
    );
  }
  return (
    <TextField {...common} description={description} {...(kind === 'NUMBER' && { inputMode: 'numeric' })} />
  );
}
