/** The API keys of the viewer. They can be created, rotated and revoked. */
import { Anchor, Button, Code, Group, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ApiKeysOfPortal,
  type ApiKeysOfPortalQuery,
  RevokeApiKeyInPortal,
} from '../../../generated/portal/keys/keys';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { ConfirmDialog, useNotice } from '../shell/confirm-dialog';
import { Icon, StateTag } from '../shell/icon';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { NewKeyDialog } from './new-key-dialog';
import { readScopes, VERB_LABELS } from './picked-scopes';
import { RotateKeyDialog } from './rotate-key-dialog';

type ListedKey = ApiKeysOfPortalQuery['apiKeys'][number];

function stateOf({ revokedAt, expiresAt }: ListedKey): string {
  if (revokedAt !== null) return phrase('Revoked');
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? phrase('Expired') : phrase('Active');
}

export function KeysPage() {
  const t = useTexts();
  const [isMaking, setIsMaking] = useState(false);
  const { data, error, refetch } = useOperation(ApiKeysOfPortal, {});
  return (
    <PageFrame
      title={t('API keys')}
      description={t('Keys let programs use the API as you, limited to the scopes you choose.')}
      actions={
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setIsMaking(true)}>
          {t('New key')}
        </Button>
      }
    >
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !data && <LoadingState />}
      {data?.apiKeys.length === 0 && (
        <EmptyState
          icon="key"
          title={t('No API keys yet')}
          action={<Button onClick={() => setIsMaking(true)}>{t('Create the first one')}</Button>}
        >
          {t('A program needs one to read or write records. It is shown once, when you create it.')}
        </EmptyState>
      )}
      {data && data.apiKeys.length > 0 && <KeyTable keys={data.apiKeys} />}
      {isMaking && <NewKeyDialog onClose={() => setIsMaking(false)} />}
    </PageFrame>
  );
}

function KeyTable({ keys }: { readonly keys: readonly ListedKey[] }) {
  const t = useTexts();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard.
    <section className="table-scroll" tabIndex={0} aria-label={t('API keys')}>
      <Table className="stacked-table keys-table" verticalSpacing="sm" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('What it may do')}</Table.Th>
            <Table.Th>{t('Expires')}</Table.Th>
            <Table.Th>{t('Last used')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
            <Table.Th>{t('Actions')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((one) => (
            <KeyRow key={one.id} listed={one} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function KeyRow({ listed }: { readonly listed: ListedKey }) {
  const t = useTexts();
  const formats = useFormats();
  const notice = useNotice();
  const [asked, setAsked] = useState<'rotate' | 'revoke'>();
  const revoke = useChange(RevokeApiKeyInPortal, [ApiKeysOfPortal]);
  const { id, name, prefix, expiresAt, lastUsedAt, lastUsedAddress, allowedAddresses } = listed;
  const state = stateOf(listed);
  const isActive = state === 'Active';
  const close = () => setAsked(undefined);
  const end = async () => {
    await revoke.mutateAsync({ id });
    close();
    notice(t('{name} is revoked.', { name }));
  };
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} to={`/portal/keys/${id}`} fw={600} size="sm" display="block">
          {name}
        </Anchor>
        <Code className="unbroken">{prefix}…</Code>
      </Table.Td>
      <Table.Td data-label={t('What it may do')}>
        <div>
          <ScopesInWords scopes={listed.scopes} />
          {allowedAddresses.length > 0 && (
            <Text size="xs" c="dimmed">
              {t('From {addresses}', { addresses: allowedAddresses.join(', ') })}
            </Text>
          )}
        </div>
      </Table.Td>
      <Table.Td data-label={t('Expires')}>
        {expiresAt === null ? t('Never') : formats.instant(expiresAt)}
      </Table.Td>
      <Table.Td data-label={t('Last used')}>
        <div>
          {lastUsedAt === null ? t('Never') : formats.instant(lastUsedAt)}
          {lastUsedAddress !== null && (
            <Text size="xs" c="dimmed">
              {lastUsedAddress}
            </Text>
          )}
        </div>
      </Table.Td>
      <Table.Td data-label={t('State')}>
        <StateTag state={state}>{t(state)}</StateTag>
      </Table.Td>
      <Table.Td>
        {isActive && (
          <Group gap="xs" wrap="nowrap">
            <Button
              size="compact-sm"
              variant="default"
              aria-label={t('Rotate {name}', { name })}
              onClick={() => setAsked('rotate')}
            >
              {t('Rotate')}
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={t('Revoke {name}', { name })}
              onClick={() => setAsked('revoke')}
            >
              {t('Revoke')}
            </Button>
          </Group>
        )}
        {asked === 'rotate' && <RotateKeyDialog id={id} name={name} onClose={close} />}
        {asked === 'revoke' && (
          <ConfirmDialog
            title={t('Revoke {name}?', { name })}
            action={t('Revoke')}
            isDangerous
            isBusy={revoke.isPending}
            problem={revoke.error}
            onConfirm={() => void end().catch(() => undefined)}
            onClose={close}
          >
            {t('Programs that use it stop working at once. This cannot be undone.')}
          </ConfirmDialog>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function ScopesInWords({ scopes }: { readonly scopes: unknown }) {
  const t = useTexts();
  const { collections, reports, scripts, accounts } = readScopes(scopes);
  const viewer = useViewer();
  const titles = new Map(viewer.collections.map(({ name, title }) => [name, title]));
  const reportTitles = new Map(viewer.reports.map(({ name, title }) => [name, title]));
  const titleOf = (name: string) => (name === '*' ? t('All collections') : (titles.get(name) ?? name));
  const lines = Object.entries(collections).map(
    ([name, verbs]) => `${titleOf(name)}: ${verbs.map((verb) => t(VERB_LABELS[verb] ?? verb)).join(', ')}`,
  );
  const titleOfReport = (name: string) => reportTitles.get(name) ?? name;
  const inWords = (names: readonly string[]) => (names.includes('*') ? t('All') : names.join(', '));
  if (reports.length > 0) lines.push(`${t('Reports')}: ${inWords(reports.map(titleOfReport))}`);
  if (scripts.length > 0) lines.push(`${t('Scripts')}: ${inWords(scripts)}`);
  if (accounts === true) lines.push(t('Accounts: who may log in, and with which roles'));
  return (
    <ul className="plain-list">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
