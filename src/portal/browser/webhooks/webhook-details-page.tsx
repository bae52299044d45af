/** One webhook: its events, deliveries and actions. */
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ChangeWebhook,
  DeliveriesOfWebhook,
  RemoveWebhookInPortal,
  RotateWebhookSecretInPortal,
  TestWebhookInPortal,
  WebhooksOfPortal,
  type WebhooksOfPortalQuery,
} from '../../../generated/portal/webhooks/webhooks';
import { useChange, useOperation } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { ChangedMeanwhile, ConfirmDialog, InputDialog, savedOver, useNotice } from '../shell/confirm-dialog';
import { StateTag, WarningNotice } from '../shell/icon';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { DeliveryList } from './delivery-list';
import {
  useEventWords,
  WebhookForm,
  type WebhookFormProps,
  WebhookSecret,
  type WebhookValues,
} from './webhook-form';

/** How often to check whether the address answers again. */
const LOOK_EVERY_MS = 15_000;

type Webhook = WebhooksOfPortalQuery['webhooks'][number];

export function WebhookDetailsPage() {
  const t = useTexts();
  const { webhook: id = '' } = useParams({ strict: false }) as { readonly webhook?: string };
  const { data, error, refetch } = useOperation(WebhooksOfPortal, {}, { everyMs: LOOK_EVERY_MS });
  const webhook = data?.webhooks.find((one) => one.id === id);
  return (
    <PageFrame
      title={webhook?.name ?? t('Webhook')}
      above={[{ label: t('Webhooks'), to: '/portal/webhooks' }]}
      description={webhook && <Code className="wrapped">{webhook.url}</Code>}
    >
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !data && <LoadingState />}
      {data && !webhook && <EmptyState icon="webhook" title={t('There is no such webhook')} />}
      {webhook && (
        <Stack>
          <ToldOf webhook={webhook} />
          {webhook.isFailing && !webhook.isPaused && (
            <WarningNotice title={t('This address does not answer as it should')}>
              {t('It is tried once a minute. As soon as one delivery arrives, all that wait are sent.')}{' '}
              {t('“Send a test” tries at once.')}
            </WarningNotice>
          )}
          <WebhookActions webhook={webhook} />
          <DeliveryList id={webhook.id} />
        </Stack>
      )}
    </PageFrame>
  );
}

function ToldOf({ webhook }: { readonly webhook: Webhook }) {
  const t = useTexts();
  const wordsOf = useEventWords();
  return (
    <Group gap="xs" align="flex-start">
      <StateTag state={webhook.isPaused ? 'paused' : 'active'}>
        {webhook.isPaused ? t('Paused') : t('Active')}
      </StateTag>
      <ul className="plain-list">
        {webhook.events.map((event) => (
          <li key={wordsOf(event)}>
            <Text size="sm" className="wrapped">
              {wordsOf(event)}
            </Text>
          </li>
        ))}
      </ul>
    </Group>
  );
}

function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const t = useTexts();
  const notice = useNotice();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'change' | 'secret' | 'remove'>();
  const change = useChange(ChangeWebhook, [WebhooksOfPortal, DeliveriesOfWebhook]);
  const rotate = useChange(RotateWebhookSecretInPortal);
  const remove = useChange(RemoveWebhookInPortal, [WebhooksOfPortal]);
  const test = useChange(TestWebhookInPortal, [WebhooksOfPortal, DeliveriesOfWebhook]);
  const { id, name, isPaused } = webhook;
  const close = () => {
    setAsked(undefined);
    for (const one of [change, rotate, remove]) one.reset();
  };
  const saved = {
    onSuccess: () => {
      close();
      notice(t('Saved.'));
    },
  };
  const told = () =>
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
    );
  const secret = rotate.data?.rotateWebhookSecret;
  const gone = async () => {
    await remove.mutateAsync({ id });
    notice(t('{name} is removed.', { name }));
    await navigate({ to: '/portal/webhooks' });
  };
  return (
    <>
      <Group gap="xs">
        <Button variant="default" loading={test.isPending} onClick={told}>
          {t('Send a test')}
        </Button>
        <Button
          variant="default"
          loading={change.isPending && asked === undefined}
          onClick={() => change.mutate({ id, data: { isPaused: !isPaused }, ifMatch: webhook.etag }, saved)}
        >
          {isPaused ? t('Resume') : t('Pause')}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            change.reset();
            setAsked('change');
          }}
        >
          {t('Change')}
        </Button>
        <Button variant="default" onClick={() => setAsked('secret')}>
          {t('New secret')}
        </Button>
        <Button variant="default" onClick={() => setAsked('remove')}>
          {t('Remove')}
        </Button>
      </Group>
      {test.error && <ProblemState problem={test.error} />}
      {change.error && asked === undefined && <ProblemState problem={change.error} />}
      {asked === 'change' && (
        <ChangeDialog
          now={webhook}
          isBusy={change.isPending}
          problem={change.error}
          onSave={(data, { etag: ifMatch }) => change.mutate({ id, data, ifMatch }, saved)}
          onClose={close}
        />
      )}
      {asked === 'secret' && secret === undefined && (
        <ConfirmDialog
          title={t('A new secret?')}
          action={t('New secret')}
          isBusy={rotate.isPending}
          problem={rotate.error}
          onConfirm={() => rotate.mutate({ id })}
          onClose={close}
        >
          {t('The old secret stops signing at once: the receiver needs the new one right away.')}
        </ConfirmDialog>
      )}
      {asked === 'secret' && secret !== undefined && (
        <Modal
          opened
          onClose={close}
          title={t('Webhook secret')}
          closeOnClickOutside={false}
          closeButtonProps={{ 'aria-label': t('Close') }}
        >
          <WebhookSecret secret={secret} onClose={close} />
        </Modal>
      )}
      {asked === 'remove' && (
        <ConfirmDialog
          title={t('Remove {name}?', { name })}
          action={t('Remove')}
          isDangerous
          isBusy={remove.isPending}
          problem={remove.error}
          onConfirm={() => void gone().catch(() => undefined)}
          onClose={close}
        >
          {t('Waiting deliveries are not sent, and its delivery log is deleted.')}
        </ConfirmDialog>
      )}
    </>
  );
}

interface ChangeDialogProps extends Pick<WebhookFormProps, 'isBusy' | 'problem'> {
  readonly now: Webhook;
  /** Called with the values and with the version that was shown, over which they are saved. */
  onSave(values: WebhookValues, over: Webhook): void;
  onClose(): void;
}

function ChangeDialog({ now, isBusy, problem, onSave, onClose }: ChangeDialogProps) {
  const t = useTexts();
  const wordsOf = useEventWords();
  const [begun] = useState(now);
  const { over, theirs } = savedOver(begun, now, problem);
  return (
    <InputDialog opened size="lg" onClose={onClose} title={t('Change the webhook')}>
      <WebhookForm
        values={over}
        action={t('Save')}
        isBusy={isBusy}
        problem={theirs ? null : problem}
        onSave={(values) => onSave(values, over)}
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
