/** One message: its words, content, state and actions. */
import { Code, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import {
  DiscardMessageInPortal,
  MessagesOfPortal,
  type MessagesOfPortalQuery,
  RetryMessageInPortal,
} from '../../../generated/portal/messages/messages';
import { useRights } from '../gateway/use-gateway';
import { formats, phrase, t } from '../language/texts';
import { ChangeDialog, notice } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { FactsTable } from '../shell/link-card';
import { TextButton, TextLink } from '../shell/text-button';
import { useUserNames } from '../shell/use-record-labels';

/** A message, as the page lists it and its dialog shows it. */
export type ListedMessage = MessagesOfPortalQuery['messages']['nodes'][number];

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

/** The label of a message. A text message has no subject, so its text is the label. */
export function labelOfMessage({ subject, text }: ListedMessage): string {
  return subject ?? text ?? '';
}

/** The records of text messages, with the recipient and the reason of each. */
const SMS_LOG = 'sms_log';

export interface MessageDialogProps {
  readonly message: ListedMessage;
  onClose(): void;
}

export function MessageDialog({ message, onClose }: MessageDialogProps) {
  const [asked, setAsked] = useState<'retry' | 'discard'>();
  const { id, state, recipients, remaining } = message;
  const to = (remaining ?? recipients).join(', ');
  const done = (words: string) => () => {
    notice(words);
    onClose();
  };
  const common = { variables: { id }, outdated: [MessagesOfPortal], onClose: () => setAsked(undefined) };
  if (asked === 'retry') {
    return (
      <ChangeDialog
        title={t('Send this message now?')}
        action={t('Send now')}
        change={RetryMessageInPortal}
        onDone={done(t('The message will be sent now.'))}
        {...common}
      >
        {t('It goes to {to}. If there is still no server to send it, it is kept again.', { to })}
      </ChangeDialog>
    );
  }
  if (asked === 'discard') {
    return (
      <ChangeDialog
        title={t('Discard this message?')}
        action={t('Discard')}
        isDangerous
        change={DiscardMessageInPortal}
        onDone={done(t('The message is discarded.'))}
        {...common}
      >
        {t('It will not be sent to {to}. It is listed as failed and can be sent from there.', { to })}
      </ChangeDialog>
    );
  }
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={message.subject ?? t(MESSAGE_KIND_NAMES[message.kind] ?? message.kind)}
    >
      <Stack>
        <MessageFacts message={message} />
        <MessageContent message={message} />
        {MAY_BE_SENT.includes(state) && (
          <Group justify="flex-end">
            {state !== 'FAILED' && <TextButton label={t('Discard')} onClick={() => setAsked('discard')} />}
            <TextButton label={t('Send now')} isMain onClick={() => setAsked('retry')} />
          </Group>
        )}
      </Stack>
    </Modal>
  );
}

const MAY_BE_SENT: readonly string[] = ['FAILED', 'KEPT', 'QUEUED'];

function MessageFacts({ message }: { readonly message: ListedMessage }) {
  const nameOf = useUserNames([message.createdBy]);
  const { kind, state, recipients, remaining, attempts, lastError, nextAttemptAt, sentAt, recordId } =
    message;
  const readsLog = useRights(SMS_LOG)?.canRead;
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [
      t('State'),
      <StateTag key="state" state={state}>
        {t(MESSAGE_STATE_NAMES[state] ?? state)}
      </StateTag>,
    ],
    [t('Channel'), t(MESSAGE_KIND_NAMES[kind] ?? kind)],
    [t('To'), recipients.join(', ')],
    [t('Not yet accepted for'), remaining?.join(', ')],
    [t('Requested'), `${formats.instant(message.createdAt)}, ${nameOf(message.createdBy)}`],
    [t('Attempts'), formats.number(attempts)],
    [t('Next attempt'), nextAttemptAt && formats.instant(nextAttemptAt)],
    [t('Reason'), lastError],
    [t('Accepted by server'), sentAt && formats.instant(sentAt)],
    [t('ID at the server'), message.providerId && <Code>{message.providerId}</Code>],
    [
      t('Record'),
      recordId !== null && readsLog && (
        <TextLink to={`/portal/records/${SMS_LOG}/${encodeURIComponent(recordId)}`}>{recordId}</TextLink>
      ),
    ],
  ];
  return <FactsTable facts={facts} />;
}

/** Shows the content as text, because content from others must not be run here. */
function MessageContent({ message: { text, html } }: { readonly message: ListedMessage }) {
  const parts = [
    [t('Text'), text],
    ['HTML', html],
  ] as const;
  return parts.map(
    ([title, content]) =>
      content && (
        <Stack key={title} gap={4}>
          <Text fw={600}>{title}</Text>
          <Code block className="wrapped">
            {content}
          </Code>
        </Stack>
      ),
  );
}
