/** Creates a key. It is shown once, in this dialog. */
import { Button, Group, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ApiKeysOfPortal, MakeApiKey } from '../../../generated/portal/keys/keys';
import { useChange, useViewer } from '../gateway/use-gateway';
import { dayAfter, fromWallTime } from '../language/days';
import { useFormats, useTexts } from '../language/use-texts';
import { SecretOnce, type SecretOnceProps } from '../shell/code-to-copy';
import { InputDialog } from '../shell/confirm-dialog';
import { DayInput } from '../shell/day-input';
import { ProblemState } from '../shell/states';
import { hasScopes, NO_SCOPES, type PickedScopes } from './picked-scopes';
import { ScopeTree } from './scope-tree';

const DAY_MS = 86_400_000;
const ON_A_DAY = 'day';

export function NewKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts();
  const { today } = useFormats();
  const { timeZone } = useViewer().domain;
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [lastDay, setLastDay] = useState('');
  const [addresses, setAddresses] = useState<string[]>([]);
  const [scopes, setScopes] = useState<PickedScopes>(NO_SCOPES);
  const make = useChange(MakeApiKey, [ApiKeysOfPortal]);
  const secret = make.data?.createApiKey.key;
  const submit = () =>
    make.mutate({
      data: {
        name: name.trim(),
        scopes,
        expiresAt: days === ON_A_DAY ? fromWallTime(`${dayAfter(lastDay)}T00:00`, timeZone) : inDays(days),
        ...(addresses.length > 0 && { allowedAddresses: addresses }),
      },
    });
  const title = secret === undefined ? t('New API key') : t('Your new key');
  return (
    <InputDialog opened size="lg" onClose={onClose} title={title} closeOnClickOutside={false}>
      {secret === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Stack>
            <TextInput
              label={t('Name')}
              required
              maxLength={100}
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Select
              label={t('Expires')}
              data={[
                { value: '30', label: t('In 30 days') },
                { value: '90', label: t('In 90 days') },
                { value: '365', label: t('In a year') },
                { value: ON_A_DAY, label: t('On a day of your choice') },
                { value: '', label: t('Never') },
              ]}
              value={days}
              onChange={(next) => setDays(next ?? '')}
              allowDeselect={false}
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
            {make.error && <ProblemState problem={make.error} />}
            <Group justify="flex-end">
              {!hasScopes(scopes) && (
                <Text size="sm" c="dimmed" className="grow">
                  {t('Choose what it may do')}
                </Text>
              )}
              <Button variant="default" onClick={onClose}>
                {t('Cancel')}
              </Button>
              <Button type="submit" loading={make.isPending} disabled={!hasScopes(scopes)}>
                {t('Create key')}
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <KeySecret secret={secret} onClose={onClose} />
      )}
    </InputDialog>
  );
}

function inDays(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}

/** Pasted text may be a list, separated by spaces, commas or semicolons. */
function oneByOne(texts: readonly string[]): string[] {
  const addresses = texts.flatMap((text) => text.split(/[\s,;]+/)).filter((address) => address !== '');
  return [...new Set(addresses)];
}

/** Shows a new key. */
export function KeySecret(props: Pick<SecretOnceProps, 'secret' | 'onClose'>) {
  const t = useTexts();
  return (
    <SecretOnce title={t('Key')} words={t('Copy the key now. It will not be shown again.')} {...props} />
  );
}
