/** The dashboards of the viewer, and those shared with one of their roles. */
import { Button, SimpleGrid, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  DashboardsOfPortal,
  type DashboardsOfPortalQuery,
  MakeDashboard,
} from '../../../generated/portal/dashboards/dashboards';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { LinkCard } from '../shell/link-card';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { DashboardDialog } from './dashboard-dialog';

type ListedDashboard = DashboardsOfPortalQuery['dashboards']['nodes'][number];

export function DashboardsPage() {
  const t = useTexts();
  const viewer = useViewer();
  const navigate = useNavigate();
  const [isNew, setIsNew] = useState(false);
  const { data, error, refetch } = useOperation(DashboardsOfPortal, {});
  const make = useChange(MakeDashboard, [DashboardsOfPortal]);
  const mayMake = viewer.collections.some(({ name, canCreate }) => name === 'dashboard' && canCreate);
  const dashboards = data?.dashboards.nodes;
  const whose = ({ owner, sharedWith }: Pick<ListedDashboard, 'owner' | 'sharedWith'>) => {
    if (owner?.id !== viewer.id) return t('By {name}', { name: owner?.label ?? owner?.id ?? '' });
    if (!sharedWith?.length) return t('Private');
    return t('Shared with {roles}', { roles: sharedWith.join(', ') });
  };
  return (
    <PageFrame
      title={t('Dashboards')}
      description={t('Yours, and those shared with your role')}
      actions={
        mayMake && (
          <Button leftSection={<Icon name="plus" />} onClick={() => setIsNew(true)}>
            {t('New dashboard')}
          </Button>
        )
      }
    >
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !dashboards && <LoadingState />}
      {dashboards?.length === 0 && (
        <EmptyState
          icon="board"
          title={t('No dashboards yet')}
          action={mayMake && <Button onClick={() => setIsNew(true)}>{t('Create the first one')}</Button>}
        >
          {mayMake
            ? t('Put the reports and records you check often on one page, for yourself or to share.')
            : t('Dashboards shared with your role will appear here.')}
        </EmptyState>
      )}
      {dashboards && dashboards.length > 0 && (
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
          {dashboards.map(({ id, title, owner, sharedWith, tiles }) => (
            <LinkCard key={id} to={`/portal/dashboards/${encodeURIComponent(id)}`} title={title ?? id}>
              <Text size="sm" c="dimmed">
                {t('{count, plural, one {# tile} other {# tiles}}', { count: tiles?.length ?? 0 })}
              </Text>
              <Text size="xs" c="dimmed" mt="xs">
                {whose({ owner, sharedWith })}
              </Text>
            </LinkCard>
          ))}
        </SimpleGrid>
      )}
      {isNew && (
        <DashboardDialog
          heading={t('New dashboard')}
          action={t('Create dashboard')}
          values={{ title: '', sharedWith: [] }}
          isBusy={make.isPending}
          problem={make.error}
          onClose={() => setIsNew(false)}
          onSave={({ title, sharedWith }) =>
            make.mutate(
              { data: { title, owner: { id: viewer.id }, sharedWith, tiles: [] } },
              {
                onSuccess: ({ createDashboard: { id } }) =>
                  void navigate({ to: `/portal/dashboards/${encodeURIComponent(id)}` }),
              },
            )
          }
        />
      )}
    </PageFrame>
  );
}
