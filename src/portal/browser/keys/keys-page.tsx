/** The API keys of the viewer. They can be created, rotated and revoked; a new one is shown once. */
import { Code, Group, TagsInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  ApiKeysOfPortal,
  type ApiKeysOfPortalQuery,
  MakeApiKey,
  RevokeApiKeyInPortal,
  RotateApiKeyInPortal,
} from '../../../generated/portal/keys/keys';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { dayAfter, fromWallTime } from '../language/days';
import { formats, phrase, t } from '../language/texts';
import { ChangeButton, DialogButton, FormDialog, notice, SecretDialog } from '../shell/confirm-dialog';
import { DayInput } from '../shell/day-input';
import { StateTag } from '../shell/icon';
import { ActionsHead, choicesOf, ListPage, ListTable, PlainList } from '../shell/list-table';
import { TextLink } from '../shell/text-button';
import { PickField } from '../shell/text-field';
import { hasScopes, NO_SCOPES, type PickedScopes, readScopes, ScopeTree, VERB_LABELS } from './scope-tree';

type ListedKey = ApiKeysOfPortalQuery['apiKeys'][number];

function stateOf({ revokedAt, expiresAt }: ListedKey): string {
  if (revokedAt !== null) return phrase('Revoked');
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? phrase('Expired') : phrase('Active');
}

export function KeysPage() {
  const whenOf = (time: string | null) => (time === null ? t('Never') : formats.instant(time));
  return (
    <ListPage
      title={t('API keys')}
      description={t('Keys let programs use the API as you, limited to the scopes you choose.')}
      of={useOperation(ApiKeysOfPortal, {})}
      rowsOf={({ apiKeys }) => apiKeys}
      empty={{
        icon: 'key',
        title: t('No API keys yet'),
        about: t('A program needs one to read or write records. It is shown once, when you create it.'),
      }}
      create={{
        label: t('New key'),
        first: t('Create the first one'),
        dialog: (close) => <NewKeyDialog onClose={close} />,
      }}
    >
      {(keys) => (
        <ListTable<ListedKey>
          label={t('API keys')}
          className="stacked-table keys-table"
          rows={keys}
          columns={[
            [
              t('Name'),
              ({ id, name, prefix }) => (
                <>
                  <TextLink to={`/portal/keys/${id}`} fw={600} display="block">
                    {name}
                  </TextLink>
                  <Code className="unbroken">{prefix}…</Code>
                </>
              ),
            ],
            [t('What it may do'), (key) => <ScopesInWords listed={key} />],
            [t('Expires'), ({ expiresAt }) => whenOf(expiresAt)],
            [
              t('Last used'),
              ({ lastUsedAt, lastUsedAddress }) => (
                <div>
                  {whenOf(lastUsedAt)}
                  <Text size="xs" c="dimmed">
                    {lastUsedAddress}
                  </Text>
                </div>
              ),
            ],
            [t('State'), (key) => <StateTag state={stateOf(key)}>{t(stateOf(key))}</StateTag>],
            [
              <ActionsHead key="actions" />,
              (key) => stateOf(key) === 'Active' && <KeyActions listed={key} />,
            ],
          ]}
        />
      )}
    </ListPage>
  );
}

function KeyActions({ listed: { id, name } }: { readonly listed: ListedKey }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <DialogButton
        label={t('Rotate')}
        size="compact-sm"
        aria-label={t('Rotate {name}', { name })}
        dialog={(close) => <RotateKeyDialog {...{ id, name }} onClose={close} />}
      />
      <ChangeButton
        look={{ size: 'compact-sm', 'aria-label': t('Revoke {name}', { name }) }}
        title={t('Revoke {name}?', { name })}
        action={t('Revoke')}
        isDangerous
        change={RevokeApiKeyInPortal}
        variables={{ id }}
        outdated={[ApiKeysOfPortal]}
        onDone={() => notice(t('{name} is revoked.', { name }))}
      >
        {t('Programs that use it stop working at once. This cannot be undone.')}
      </ChangeButton>
    </Group>
  );
}

function ScopesInWords({ listed }: { readonly listed: ListedKey }) {
  const { collections, reports, scripts, accounts } = readScopes(listed.scopes);
  const viewer = useViewer();
  const titleOf = (known: readonly { readonly name: string; readonly title: string }[], one: string) =>
    known.find(({ name }) => name === one)?.title ?? one;
  const inWords = (names: readonly string[]) => (names.includes('*') ? t('All') : names.join(', '));
  const lines = [
    ...Object.entries(collections).map(([name, verbs]) => {
      const title = name === '*' ? t('All collections') : titleOf(viewer.collections, name);
      return `${title}: ${verbs.map((verb) => t(VERB_LABELS[verb] ?? verb)).join(', ')}`;
    }),
    reports.length > 0 && `${t('Reports')}: ${inWords(reports.map((name) => titleOf(viewer.reports, name)))}`,
    scripts.length > 0 && `${t('Scripts')}: ${inWords(scripts)}`,
    accounts === true && t('Accounts: who may log in, and with which roles'),
  ];
  return (
    <div>
      <PlainList lines={lines} />
      {listed.allowedAddresses.length > 0 && (
        <Text size="xs" c="dimmed">
          {t('From {addresses}', { addresses: listed.allowedAddresses.join(', ') })}
        </Text>
      )}
    </div>
  );
}

const DAY_MS = 86_400_000;
const ON_A_DAY = 'day';

const LIFETIMES = {
  '30': phrase('In 30 days'),
  '90': phrase('In 90 days'),
  '365': phrase('In a year'),
  [ON_A_DAY]: phrase('On a day of your choice'),
};

function NewKeyDialog({ onClose }: { onClose(): void }) {
  const { today } = formats;
  const { timeZone } = useViewer().domain;
  const [days, setDays] = useState('90');
  const [lastDay, setLastDay] = useState('');
  const [addresses, setAddresses] = useState<string[]>([]);
  const [scopes, setScopes] = useState<PickedScopes>(NO_SCOPES);
  const make = useChange(MakeApiKey, [ApiKeysOfPortal]);
  const inDays = () => (days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString());
  if (make.data) return <NewKey secret={make.data.createApiKey.key} onClose={onClose} />;
  return (
    <FormDialog
      title={t('New API key')}
      size="lg"
      action={t('Create key')}
      of={make}
      isReady={hasScopes(scopes)}
      note={
        !hasScopes(scopes) && (
          <Text c="dimmed" className="grow">
            {t('Choose what it may do')}
          </Text>
        )
      }
      {...{ onClose, onCancel: onClose }}
      onSubmit={({ name = '' }) =>
        make.mutate({
          data: {
            name: name.trim(),
            scopes,
            expiresAt: days === ON_A_DAY ? fromWallTime(`${dayAfter(lastDay)}T00:00`, timeZone) : inDays(),
            ...(addresses.length > 0 && { allowedAddresses: addresses }),
          },
        })
      }
    >
      <TextInput label={t('Name')} name="name" required maxLength={100} />
      <PickField
        label={t('Expires')}
        data={[...choicesOf(LIFETIMES), { value: '', label: t('Never') }]}
        value={days}
        onChange={setDays}
      />
      {days === ON_A_DAY && (
        <DayInput
          label={t('Last day')}
          description={t('It works until the end of this day.')}
          required
          min={today}
          max="9998-12-31"
          value={lastDay}
          onChange={setLastDay}
        />
      )}
      <TagsInput
        label={t('Allowed addresses')}
        description={t('IP addresses or networks. Leave empty to allow any.')}
        maxTags={50}
        value={addresses}
        onChange={(texts) => setAddresses(oneByOne(texts))}
      />
      <ScopeTree scopes={scopes} change={setScopes} />
    </FormDialog>
  );
}

/** Pasted text may be a list, separated by spaces, commas or semicolons. */
function oneByOne(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.split(/[\s,;]+/)).filter((address) => address !== ''))];
}

const OVERLAPS = {
  '0': phrase('No time: end it now'),
  '3600': phrase('An hour'),
  '86400': phrase('A day'),
  '604800': phrase('A week'),
  '2592000': phrase('30 days'),
};

interface RotateKeyDialogProps extends Pick<ListedKey, 'id' | 'name'> {
  onClose(): void;
}

/** The old key keeps working for a while, so that programs can change over. */
function RotateKeyDialog({ id, name, onClose }: RotateKeyDialogProps) {
  const [overlap, setOverlap] = useState('86400');
  const rotate = useChange(RotateApiKeyInPortal, [ApiKeysOfPortal]);
  if (rotate.data) return <NewKey secret={rotate.data.rotateApiKey.key} onClose={onClose} />;
  return (
    <FormDialog
      title={t('Rotate {name}?', { name })}
      action={t('Rotate')}
      of={rotate}
      {...{ onClose, onCancel: onClose }}
      onSubmit={() => rotate.mutate({ id, overlapSeconds: Number(overlap) })}
    >
      <Text>{t('A new key with the same name, scopes, addresses and expiry replaces it.')}</Text>
      <PickField
        label={t('Keep the old key for')}
        data={choicesOf(OVERLAPS)}
        value={overlap}
        onChange={setOverlap}
      />
    </FormDialog>
  );
}

function NewKey(shown: { readonly secret: string; onClose(): void }) {
  return (
    <SecretDialog
      title={t('Your new key')}
      label={t('Key')}
      words={t('Copy the key now. It will not be shown again.')}
      {...shown}
    />
  );
}
