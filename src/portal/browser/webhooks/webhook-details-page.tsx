/** One webhook: its events, deliveries and actions. */
import { Code, Group, Stack } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ChangeWebhook,
  DeliveriesOfWebhook,
  RemoveWebhookInPortal,
  RotateWebhookSecretInPortal,
  TestWebhookInPortal,
  WebhooksOfPortal,
} from '../../../generated/portal/webhooks/webhooks';
import { useChange, useOperation } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { Answered } from '../shell/answered';
import { ChangeButton } from '../shell/change-dialog';
import { ChangedMeanwhile, InputDialog, savedOver, useNotice } from '../shell/confirm-dialog';
import { WarningNotice } from '../shell/icon';
import { EmptyState, PageFrame, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { DeliveryList } from './delivery-list';
import {
  EventList,
  type ListedWebhook,
  PausedTag,
  useEventWords,
  WebhookForm,
  WebhookSecret,
} from './webhook-form';

/** How often to check whether the address answers again. */
const LOOK_EVERY_MS = 15_000;
const OUTDATED = [WebhooksOfPortal, DeliveriesOfWebhook];

export function WebhookDetailsPage() {
  const t = useTexts();
  const { webhook: id = '' } = useParams({ strict: false }) as { readonly webhook?: string };
  const answer = useOperation(WebhooksOfPortal, {}, { everyMs: LOOK_EVERY_MS });
  const webhook = answer.data?.webhooks.find((one) => one.id === id);
  const failing = [
    t('It is tried once a minute. As soon as one delivery arrives, all that wait are sent.'),
    t('“Send a test” tries at once.'),
  ].join(' ');
  return (
    <PageFrame
      title={webhook?.name ?? t('Webhook')}
      above={[{ label: t('Webhooks'), to: '/portal/webhooks' }]}
      description={webhook && <Code className="wrapped">{webhook.url}</Code>}
    >
      <Answered of={answer}>
        {() =>
          webhook ? (
            <Stack>
              <Group gap="xs" align="flex-start">
                <PausedTag webhook={webhook} />
                <EventList webhook={webhook} />
              </Group>
              {webhook.isFailing && !webhook.isPaused && (
                <WarningNotice title={t('This address does not answer as it should')}>
                  {failing}
                </WarningNotice>
              )}
              <WebhookActions webhook={webhook} />
              <DeliveryList id={webhook.id} />
            </Stack>
          ) : (
            <EmptyState icon="webhook" title={t('There is no such webhook')} />
          )
        }
      </Answered>
    </PageFrame>
  );
}

function WebhookActions({ webhook }: { readonly webhook: ListedWebhook }) {
  const t = useTexts();
  const notice = useNotice();
  const navigate = useNavigate();
  const [begun, setBegun] = useState<ListedWebhook>();
  const [secret, setSecret] = useState<string>();
  const pause = useChange(ChangeWebhook, OUTDATED);
  const test = useChange(TestWebhookInPortal, OUTDATED);
  const { id, name, isPaused } = webhook;
  const problem = test.error ?? pause.error;
  return (
    <>
      <Group gap="xs">
        <TextButton
          label={t('Send a test')}
          loading={test.isPending}
          onClick={() =>
            test.mutate(
              { id },
              {
                onSuccess: ({ testWebhook: { state, status, problem } }) =>
                  state === 'delivered'
                    ? notice(t('The test was delivered: {status}.', { status }))
                    : notice(
                        t('The test was not delivered: {problem}', { problem: problem ?? status ?? '' }),
                        'failed',
                      ),
              },
            )
          }
        />
        <TextButton
          label={isPaused ? t('Resume') : t('Pause')}
          loading={pause.isPending}
          onClick={() =>
            pause.mutate(
              { id, data: { isPaused: !isPaused }, ifMatch: webhook.etag },
              { onSuccess: () => notice(t('Saved.')) },
            )
          }
        />
        <TextButton label={t('Change')} onClick={() => setBegun(webhook)} />
        <ChangeButton
          title={t('A new secret?')}
          action={t('New secret')}
          change={RotateWebhookSecretInPortal}
          variables={{ id }}
          onDone={({ rotateWebhookSecret }) => setSecret(rotateWebhookSecret)}
        >
          {t('The old secret stops signing at once: the receiver needs the new one right away.')}
        </ChangeButton>
        <ChangeButton
          title={t('Remove {name}?', { name })}
          action={t('Remove')}
          isDangerous
          change={RemoveWebhookInPortal}
          variables={{ id }}
          outdated={[WebhooksOfPortal]}
          onDone={() => {
            notice(t('{name} is removed.', { name }));
            void navigate({ to: '/portal/webhooks' });
          }}
        >
          {t('Waiting deliveries are not sent, and its delivery log is deleted.')}
        </ChangeButton>
      </Group>
      {problem && <ProblemState problem={problem} />}
      {begun && <ChangeWebhookDialog begun={begun} now={webhook} onClose={() => setBegun(undefined)} />}
      {secret !== undefined && <WebhookSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}

interface ChangeWebhookDialogProps {
  /** The webhook when the dialog was opened. */
  readonly begun: ListedWebhook;
  readonly now: ListedWebhook;
  onClose(): void;
}

function ChangeWebhookDialog({ begun, now, onClose }: ChangeWebhookDialogProps) {
  const t = useTexts();
  const notice = useNotice();
  const wordsOf = useEventWords();
  const { mutate, error, isPending } = useChange(ChangeWebhook, OUTDATED);
  const { over, theirs } = savedOver(begun, now, error);
  return (
    <InputDialog opened size="lg" onClose={onClose} title={t('Change the webhook')}>
      <WebhookForm
        values={over}
        action={t('Save')}
        isBusy={isPending}
        problem={theirs ? null : error}
        onSave={(data) =>
          mutate(
            { id: now.id, data, ifMatch: over.etag },
            {
              onSuccess: () => {
                onClose();
                notice(t('Saved.'));
              },
            },
          )
        }
      >
        {theirs && (
          <ChangedMeanwhile
            changed={{ collection: '$webhook', id: now.id }}
            theirs={[
              [t('Name'), theirs.name],
              [t('Address'), theirs.url],
              [t('Events'), theirs.events.map(wordsOf).join('; ')],
              [t('State'), theirs.isPaused ? t('Paused') : t('Active')],
            ]}
          />
        )}
      </WebhookForm>
    </InputDialog>
  );
}
