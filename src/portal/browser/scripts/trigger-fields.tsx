import { ActionIcon, Button, Checkbox, Group, NativeSelect, Stack, Text } from '@mantine/core';
import type { ScriptOutlineFragment } from '../../../generated/portal/scripts/scripts';
import { useViewer } from '../gateway/use-gateway';
import { phrase, type Texts, useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';

export type EditedTrigger = ScriptOutlineFragment['before'][number];
type WriteOperation = EditedTrigger['operations'][number];

const OPERATIONS: readonly (readonly [WriteOperation, string])[] = [
  ['CREATE', phrase('make')],
  ['UPDATE', phrase('change')],
  ['DELETE', phrase('remove')],
];

export interface TriggerFieldsProps {
  readonly label: string;
  readonly triggers: readonly EditedTrigger[];
  onChange(triggers: readonly EditedTrigger[]): void;
}

/** The writes of collections that start a script. */
export function TriggerFields({ label, triggers, onChange }: TriggerFieldsProps) {
  const t = useTexts();
  const { collections } = useViewer();
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      {triggers.map((trigger, index) => {
        const { collection, operations } = trigger;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name than its place.
          <Group key={index} gap="sm">
            <NativeSelect
              aria-label={t('Collection')}
              value={collection}
              onChange={(event) =>
                onChange(triggers.with(index, { ...trigger, collection: event.currentTarget.value }))
              }
              data={collections.map(({ name, title }) => ({ value: name, label: title }))}
            />
            {OPERATIONS.map(([operation, name]) => (
              <Checkbox
                key={operation}
                label={t(name)}
                checked={operations.includes(operation)}
                onChange={(event) => {
                  const others = operations.filter((one) => one !== operation);
                  const next = event.currentTarget.checked ? [...others, operation] : others;
                  onChange(triggers.with(index, { ...trigger, operations: next }));
                }}
              />
            ))}
            <ActionIcon
              onClick={() => onChange(triggers.toSpliced(index, 1))}
              aria-label={t('Take {field} away', { field: collection })}
            >
              <Icon name="trash" />
            </ActionIcon>
          </Group>
        );
      })}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          aria-label={t('Add to {field}', { field: label })}
          onClick={() =>
            onChange([
              ...triggers,
              { collection: collections[0]?.name ?? '', operations: ['CREATE', 'UPDATE'] },
            ])
          }
        >
          {t('Add')}
        </Button>
      </Group>
    </Stack>
  );
}

type ScriptTriggers = Pick<
  ScriptOutlineFragment,
  'before' | 'after' | 'schedule' | 'topics' | 'endpoint' | 'roles'
>;

/** The triggers of a script, each as a short text. */
export function describeTriggers(script: ScriptTriggers, t: Texts): readonly string[] {
  const { before, after, schedule, topics, endpoint, roles } = script;
  return [
    ...before.map(({ collection }) => t('before writes of {collection}', { collection })),
    ...after.map(({ collection }) => t('after writes of {collection}', { collection })),
    ...(schedule === null ? [] : [t('by the clock: {schedule}', { schedule })]),
    ...topics.map((topic) => t('messages of {topic}', { topic })),
    ...(endpoint === null ? [] : [t('requests, {methods}', { methods: endpoint.methods.join(', ') })]),
    ...(roles.length === 0 ? [] : [t('called by {roles}', { roles: roles.join(', ') })]),
  ];
}

/** The distinct names in a comma-separated text. */
export function namesOfText(text: string): readonly string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}
