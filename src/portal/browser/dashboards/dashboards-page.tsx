/** The dashboards of the viewer, and those shared with one of their roles. */
import { SimpleGrid, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  DashboardsOfPortal,
  type DashboardsOfPortalQuery,
  MakeDashboard,
} from '../../../generated/portal/dashboards/dashboards';
import { useChange, useOperation, useRights, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { FormDialog, type SubmitFormProps } from '../shell/confirm-dialog';
import { LinkCard } from '../shell/link-card';
import { ListPage } from '../shell/list-table';
import { SharedWithInput } from '../shell/shared-with-input';

type ListedDashboard = DashboardsOfPortalQuery['dashboards']['nodes'][number];

export function DashboardsPage() {
  const viewer = useViewer();
  const mayMake = useRights('dashboard')?.canCreate === true;
  const whose = ({ owner, sharedWith }: Pick<ListedDashboard, 'owner' | 'sharedWith'>) => {
    if (owner?.id !== viewer.id) return t('By {name}', { name: owner?.label ?? owner?.id ?? '' });
    if (!sharedWith?.length) return t('Private');
    return t('Shared with {roles}', { roles: sharedWith.join(', ') });
  };
  return (
    <ListPage
      title={t('Dashboards')}
      description={t('Yours, and those shared with your role')}
      of={useOperation(DashboardsOfPortal, {})}
      rowsOf={({ dashboards }) => dashboards.nodes}
      empty={{
        icon: 'board',
        title: t('No dashboards yet'),
        about: mayMake
          ? t('Put the reports and records you check often on one page, for yourself or to share.')
          : t('Dashboards shared with your role will appear here.'),
      }}
      create={
        mayMake
          ? {
              label: t('New dashboard'),
              first: t('Create the first one'),
              dialog: (close) => <NewDashboardDialog onClose={close} />,
            }
          : undefined
      }
    >
      {(dashboards) => (
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
          {dashboards.map(({ id, title, owner, sharedWith, tiles }) => (
            <LinkCard key={id} to={`/portal/dashboards/${encodeURIComponent(id)}`} title={title ?? id}>
              <Text c="dimmed">
                {t('{count, plural, one {# tile} other {# tiles}}', { count: tiles?.length ?? 0 })}
              </Text>
              <Text size="xs" c="dimmed" mt="xs">
                {whose({ owner, sharedWith })}
              </Text>
            </LinkCard>
          ))}
        </SimpleGrid>
      )}
    </ListPage>
  );
}

function NewDashboardDialog({ onClose }: { onClose(): void }) {
  const viewer = useViewer();
  const navigate = useNavigate();
  const make = useChange(MakeDashboard, [DashboardsOfPortal]);
  return (
    <DashboardDialog
      heading={t('New dashboard')}
      action={t('Create dashboard')}
      values={{ title: '', sharedWith: [] }}
      of={make}
      onClose={onClose}
      onSave={(values) =>
        make.mutate(
          { data: { ...values, owner: { id: viewer.id }, tiles: [] } },
          {
            onSuccess: ({ createDashboard: { id } }) =>
              void navigate({ to: `/portal/dashboards/${encodeURIComponent(id)}` }),
          },
        )
      }
    />
  );
}

interface DashboardValues {
  readonly title: string;
  readonly sharedWith: readonly string[];
}

export interface DashboardDialogProps extends Pick<SubmitFormProps, 'action' | 'of'> {
  readonly heading: string;
  readonly values: DashboardValues;
  /** The dashboard as somebody else saved it in the meantime, if saving was rejected for that reason. */
  readonly theirs?: (DashboardValues & { readonly id: string }) | undefined;
  onSave(values: DashboardValues): void;
  onClose(): void;
}

/** The name and roles of a new or an existing dashboard. */
export function DashboardDialog(props: DashboardDialogProps) {
  const { heading, values, theirs, onSave, ...form } = props;
  const [sharedWith, setSharedWith] = useState(values.sharedWith);
  return (
    <FormDialog
      title={heading}
      {...form}
      meanwhile={
        theirs && {
          changed: { collection: 'dashboard', id: theirs.id },
          theirs: [
            [t('Title'), theirs.title],
            [t('Shared with'), theirs.sharedWith.join(', ')],
          ],
        }
      }
      onSubmit={({ title = '' }) => onSave({ title: title.trim(), sharedWith })}
    >
      <TextInput
        label={t('Title')}
        name="title"
        required
        pattern=".*\S.*"
        maxLength={100}
        defaultValue={values.title}
      />
      <SharedWithInput value={sharedWith} onChange={setSharedWith} />
    </FormDialog>
  );
}
