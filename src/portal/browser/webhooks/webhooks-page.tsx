/** The webhooks, and a button to create another one. */
import { Text } from '@mantine/core';
import { MakeWebhook, WebhooksOfPortal } from '../../../generated/portal/webhooks/webhooks';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { InputDialog } from '../shell/confirm-dialog';
import { ListPage, ListTable } from '../shell/list-table';
import { TextLink } from '../shell/text-button';
import { EventList, type ListedWebhook, PausedTag, WebhookForm, WebhookSecret } from './webhook-form';

export function WebhooksPage() {
  return (
    <ListPage
      title={t('Webhooks')}
      description={t('Send record changes to your own server: signed, and retried until it answers')}
      of={useOperation(WebhooksOfPortal, {})}
      rowsOf={({ webhooks }) => webhooks}
      empty={{
        icon: 'webhook',
        title: t('No webhooks yet'),
        about: t('Use one for programs that cannot keep a connection open for live data.'),
      }}
      create={{
        label: t('New webhook'),
        first: t('Create the first one'),
        dialog: (close) => <NewWebhookDialog onClose={close} />,
      }}
    >
      {(webhooks) => (
        <ListTable<ListedWebhook>
          label={t('Webhooks')}
          rows={webhooks}
          columns={[
            [
              t('Name'),
              ({ id, name, url }) => (
                <>
                  <TextLink to={`/portal/webhooks/${id}`} fw={600} display="block">
                    {name}
                  </TextLink>
                  <Text size="xs" c="dimmed" className="wrapped">
                    {url}
                  </Text>
                </>
              ),
            ],
            [t('Events'), (webhook) => <EventList webhook={webhook} />],
            [t('State'), (webhook) => <PausedTag webhook={webhook} />],
          ]}
        />
      )}
    </ListPage>
  );
}

function NewWebhookDialog({ onClose }: { onClose(): void }) {
  const { collections } = useViewer();
  const make = useChange(MakeWebhook, [WebhooksOfPortal]);
  const collection = collections.find(({ canRead }) => canRead)?.name ?? '';
  const events = [{ collection, operations: ['created', 'updated', 'deleted'], oquery: null }];
  if (make.data) return <WebhookSecret secret={make.data.createWebhook.secret} onClose={onClose} />;
  return (
    <InputDialog opened size="lg" onClose={onClose} title={t('New webhook')} closeOnClickOutside={false}>
      <WebhookForm
        values={{ name: '', url: '', events }}
        action={t('Create webhook')}
        of={make}
        onSave={(values) => make.mutate({ data: values })}
      />
    </InputDialog>
  );
}
