/** Fields that get the same value in every imported record. */
import { ActionIcon, Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useId, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { useAllowedWords } from '../records/use-declared-collection';
import { Icon } from '../shell/icon';
import { type ColumnChoice, fixedValueOf } from './column-choices';

export interface FixedValuesProps {
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly choices: readonly ColumnChoice[];
  readonly taken: ReadonlySet<string | null>;
  onChange(fixed: Readonly<Record<string, unknown>>): void;
}

export function FixedValues({ fixed, choices, taken, onChange }: FixedValuesProps) {
  const t = useTexts();
  const wordsOf = useAllowedWords();
  const heading = useId();
  const [added, setAdded] = useState('');
  const free = choices.filter(({ path }) => path !== '_id' && !taken.has(path) && !(path in fixed));
  const without = (path: string) =>
    Object.fromEntries(Object.entries(fixed).filter(([name]) => name !== path));
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" id={heading}>
        {t('Same value in every record')}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('For what the file does not contain, such as the session of all its students.')}
      </Text>
      <Stack gap="xs">
        {Object.entries(fixed).map(([path, value]) => {
          const choice = choices.find((one) => one.path === path);
          const label = choice?.label ?? path;
          const allowed = choice?.field?.allowed;
          const common = {
            label,
            value: typeof value === 'string' ? value : JSON.stringify(value),
            onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
              onChange({ ...fixed, [path]: fixedValueOf(event.currentTarget.value, choice?.field) }),
          };
          return (
            <Group key={path} align="flex-end" gap="xs" wrap="nowrap">
              {allowed ? (
                <NativeSelect
                  {...common}
                  data={['', ...allowed.map((code) => ({ value: code, label: wordsOf(code) }))]}
                  className="grow"
                  maw={380}
                />
              ) : (
                <TextInput {...common} className="grow" maw={380} />
              )}
              <ActionIcon
                size="input-sm"
                onClick={() => onChange(without(path))}
                aria-label={t('Take {field} away', { field: label })}
              >
                <Icon name="trash" />
              </ActionIcon>
            </Group>
          );
        })}
        <Group align="flex-end" gap="xs">
          <NativeSelect
            label={t('Another field')}
            value={added}
            onChange={(event) => setAdded(event.currentTarget.value)}
            maw={300}
          >
            <option value="" />
            {free.map(({ path, label }) => (
              <option key={path} value={path}>
                {label}
              </option>
            ))}
          </NativeSelect>
          <Button
            variant="default"
            disabled={added === ''}
            onClick={() => {
              onChange({ ...fixed, [added]: '' });
              setAdded('');
            }}
          >
            {t('Add')}
          </Button>
        </Group>
      </Stack>
    </section>
  );
}
