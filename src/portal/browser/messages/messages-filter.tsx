import { NativeSelect, TextInput } from '@mantine/core';
import type { MessagesOfPortalQuery } from '../../../generated/portal/messages/messages';
import { phrase, useTexts } from '../language/use-texts';
import { DayInput } from '../shell/day-input';
import { isFiltering, PageFilter } from '../shell/page-filter';

/** The filter as in the address. '' means no condition. */
export const NO_MESSAGES_FILTER = { kind: '', state: '', recipient: '', from: '', until: '' };

export type MessagesFilterState = typeof NO_MESSAGES_FILTER;

export const MESSAGE_KIND_NAMES: Readonly<Record<string, string>> = {
  EMAIL: phrase('Email'),
  SMS: phrase('Text message'),
};

export const MESSAGE_STATE_NAMES: Readonly<Record<string, string>> = {
  QUEUED: phrase('Waiting'),
  SENDING: phrase('In progress'),
  SENT: phrase('Sent'),
  FAILED: phrase('Failed'),
  KEPT: phrase('Kept'),
};

export interface MessagesFilterProps {
  readonly filter: MessagesFilterState;
  onChange(changes: Partial<MessagesFilterState>, how?: 'push' | 'replace'): void;
}

export function MessagesFilter({ filter, onChange }: MessagesFilterProps) {
  const t = useTexts();
  const field = (name: keyof MessagesFilterState) => ({
    value: filter[name],
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ [name]: event.currentTarget.value }, 'replace'),
  });
  const dayField = (name: 'from' | 'until') => ({
    value: filter[name],
    onChange: (day: string) => onChange({ [name]: day }, 'replace'),
  });
  const choices = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([value, name]) => ({ value, label: t(name) }));
  return (
    <PageFilter isSet={isFiltering(filter)} onClear={() => onChange(NO_MESSAGES_FILTER)}>
      <NativeSelect
        label={t('State')}
        {...field('state')}
        data={[{ value: '', label: t('Any state') }, ...choices(MESSAGE_STATE_NAMES)]}
      />
      <NativeSelect
        label={t('Channel')}
        {...field('kind')}
        data={[{ value: '', label: t('Any channel') }, ...choices(MESSAGE_KIND_NAMES)]}
      />
      <TextInput label={t('Address or number')} placeholder="asha@example.org" {...field('recipient')} />
      <DayInput label={t('From')} {...dayField('from')} />
      <DayInput label={t('Until')} {...dayField('until')} />
    </PageFilter>
  );
}

/** A message, as the page lists it and its dialog shows it. */
export type ListedMessage = MessagesOfPortalQuery['messages']['nodes'][number];

/** The label of a message. A text message has no subject, so its text is the label. */
export function labelOfMessage({ subject, text }: ListedMessage): string {
  return subject ?? text ?? '';
}
