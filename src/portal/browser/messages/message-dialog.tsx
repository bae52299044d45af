/** One message: its content, state and actions. */
import { Anchor, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  DiscardMessageInPortal,
  MessagesOfPortal,
  RetryMessageInPortal,
} from '../../../generated/portal/messages/messages';
import { useChange, useViewer } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { ConfirmDialog, useNotice } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { FactsTable } from '../shell/link-card';
import { useUserNames } from '../shell/use-record-labels';
import { type ListedMessage, MESSAGE_KIND_NAMES, MESSAGE_STATE_NAMES } from './messages-filter';

/** The records of text messages, which say for whom and why a message was sent. */
const SMS_LOG = 'sms_log';

export interface MessageDialogProps {
  readonly message: ListedMessage;
  onClose(): void;
}

export function MessageDialog({ message, onClose }: MessageDialogProps) {
  const t = useTexts();
  const notice = useNotice();
  const [asked, setAsked] = useState<'retry' | 'discard'>();
  const retry = useChange(RetryMessageInPortal, [MessagesOfPortal]);
  const discard = useChange(DiscardMessageInPortal, [MessagesOfPortal]);
  const { id, state, recipients, remaining } = message;
  const to = (remaining ?? recipients).join(', ');
  const back = () => {
    setAsked(undefined);
    retry.reset();
    discard.reset();
  };
  const done = (told: string) => ({
    onSuccess: () => {
      notice(told);
      onClose();
    },
  });
  if (asked === 'retry') {
    return (
      <ConfirmDialog
        title={t('Send this message now?')}
        action={t('Send now')}
        isBusy={retry.isPending}
        problem={retry.error}
        onConfirm={() => retry.mutate({ id }, done(t('The message will be sent now.')))}
        onClose={back}
      >
        {t('It goes to {to}. If there is still no server to send it, it is kept again.', { to })}
      </ConfirmDialog>
    );
  }
  if (asked === 'discard') {
    return (
      <ConfirmDialog
        title={t('Discard this message?')}
        action={t('Discard')}
        isDangerous
        isBusy={discard.isPending}
        problem={discard.error}
        onConfirm={() => discard.mutate({ id }, done(t('The message is discarded.')))}
        onClose={back}
      >
        {t('It will not be sent to {to}. It is listed as failed and can be sent from there.', { to })}
      </ConfirmDialog>
    );
  }
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={message.subject ?? t(MESSAGE_KIND_NAMES[message.kind] ?? message.kind)}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <MessageFacts message={message} />
        <MessageContent message={message} />
        {MAY_BE_SENT.includes(state) && (
          <Group justify="flex-end">
            {state !== 'FAILED' && (
              <Button variant="default" onClick={() => setAsked('discard')}>
                {t('Discard')}
              </Button>
            )}
            <Button onClick={() => setAsked('retry')}>{t('Send now')}</Button>
          </Group>
        )}
      </Stack>
    </Modal>
  );
}

const MAY_BE_SENT: readonly string[] = ['FAILED', 'KEPT', 'QUEUED'];

function MessageFacts({ message }: { readonly message: ListedMessage }) {
  const t = useTexts();
  const { instant, number } = useFormats();
  const { collections } = useViewer();
  const nameOf = useUserNames([message.createdBy]);
  const { kind, state, recipients, remaining, attempts, lastError, nextAttemptAt, sentAt, recordId } =
    message;
  const readsLog = collections.some(({ name, canRead }) => name === SMS_LOG && canRead);
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
    [t('Requested'), `${instant(message.createdAt)}, ${nameOf(message.createdBy)}`],
    [t('Attempts'), number(attempts)],
    [t('Next attempt'), nextAttemptAt && instant(nextAttemptAt)],
    [t('Reason'), lastError],
    [t('Accepted by server'), sentAt && instant(sentAt)],
    [t('ID at the server'), message.providerId && <Code>{message.providerId}</Code>],
    [
      t('Record'),
      recordId !== null && readsLog && (
        <Anchor component={Link} size="sm" to={`/portal/records/${SMS_LOG}/${encodeURIComponent(recordId)}`}>
          {recordId}
        </Anchor>
      ),
    ],
  ];
  return <FactsTable facts={facts} />;
}

/** Shows the content as text, because content from others must not be run here. */
function MessageContent({ message: { text, html } }: { readonly message: ListedMessage }) {
  const t = useTexts();
  const parts = [
    [t('Text'), text],
    ['HTML', html],
  ] as const;
  return parts.map(
    ([title, content]) =>
      content && (
        <Stack key={title} gap={4}>
          <Text fw={600} size="sm">
            {title}
          </Text>
          <Code block className="wrapped">
            {content}
          </Code>
        </Stack>
      ),
  );
}
