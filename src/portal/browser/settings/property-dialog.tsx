/** Changes one setting by a control for its type, or resets it to its default. */
import { Button, Group, Input, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, lazy, Suspense, useState } from 'react';
import {
  RemoveSchoolSetting,
  SchoolSettings,
  SetSchoolSetting,
  type ShownPropertyFragment,
} from '../../../generated/portal/settings/settings';
import { useChange } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { CodeSpans } from '../shell/code-to-copy';
import { ChangedMeanwhile, InputDialog, savedOver, useNotice } from '../shell/confirm-dialog';
import { findJsonFault } from '../shell/find-json-fault';
import { LoadingState, ProblemState } from '../shell/states';
import { parseProperty, printProperty, valueInForce } from './print-property';
import { useSettingWords } from './use-setting-words';

const CodeEditor = lazy(async () => ({ default: (await import('../editor/code-editor')).CodeEditor }));

export interface PropertyDialogProps {
  /** The setting when the dialog was opened. */
  readonly property: ShownPropertyFragment;
  readonly now: ShownPropertyFragment | undefined;
  onClose(): void;
}

export function PropertyDialog({ property, now, onClose }: PropertyDialogProps) {
  const t = useTexts();
  const notice = useNotice();
  const { name, description, value, defaultValue, isSet, isInherited, isSecret } = property;
  const { titleOf, say } = useSettingWords();
  const title = titleOf(name);
  // Somebody who changes one of nine grades does not write the other eight anew.
  const [text, setText] = useState(printProperty(property, value ?? defaultValue));
  const set = useChange(SetSchoolSetting, [SchoolSettings]);
  const remove = useChange(RemoveSchoolSetting, [SchoolSettings]);
  const problem = set.error ?? remove.error;
  const { over, theirs } = savedOver(property, now, problem);
  const ifMatch = over.etag;
  const parsed = parseProperty(property, text);
  const fault = parsed === undefined && text !== '' ? findJsonFault(text) : undefined;
  const done = (words: string) => {
    notice(words);
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    remove.reset();
    set.mutate(
      { name, value: parsed, ifMatch },
      { onSuccess: () => done(t('{name} is saved.', { name: title })) },
    );
  };
  return (
    <InputDialog opened onClose={onClose} title={title}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm" component="div">
            <CodeSpans text={say(description)} />
          </Text>
          {isSecret && (
            <Text size="sm">{t('The value is never shown, and neither is the one you set now.')}</Text>
          )}
          <PropertyControl
            property={property}
            text={text}
            error={fault && t('This is no JSON: line {line, number}, column {column, number}', { ...fault })}
            onChange={setText}
          />
          {theirs && (
            <ChangedMeanwhile
              changed={{ collection: '$property', id: name }}
              theirs={[[t('Value'), theirs.isSecret ? t('Set, but never shown') : valueInForce(theirs)]]}
            />
          )}
          {problem && !theirs && <ProblemState problem={problem} />}
          <Group justify="space-between">
            {isSet && !isInherited ? (
              <Button
                variant="default"
                loading={remove.isPending}
                onClick={() =>
                  remove.mutate(
                    { name, ifMatch },
                    { onSuccess: () => done(t('{name} is reset.', { name: title })) },
                  )
                }
              >
                {t('Reset to default')}
              </Button>
            ) : (
              <span />
            )}
            <Button type="submit" loading={set.isPending} disabled={text === '' || parsed === undefined}>
              {t('Save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </InputDialog>
  );
}

interface PropertyControlProps {
  readonly property: ShownPropertyFragment;
  readonly text: string;
  readonly error: string | undefined;
  onChange(text: string): void;
}

function PropertyControl({ property, text, error, onChange }: PropertyControlProps) {
  const t = useTexts();
  const { say } = useSettingWords();
  const { kind, expected, choices } = property;
  const common = {
    label: t('Value'),
    value: text,
    error,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange(event.currentTarget.value),
  };
  const offered = kind === 'BOOLEAN' ? ['true', 'false'] : choices;
  if (offered) {
    const names: Readonly<Record<string, string>> = { true: t('Yes'), false: t('No') };
    const data = offered.map((value) => ({
      value,
      label: kind === 'BOOLEAN' ? (names[value] ?? '') : value,
    }));
    return <NativeSelect {...common} data={[{ value: '', label: t('Choose one') }, ...data]} />;
  }
  const description = t('Expected: {expected}', { expected: say(expected) });
  if (kind === 'JSON') {
    return (
      <Input.Wrapper label={common.label} description={description} error={error}>
        <Suspense fallback={<LoadingState rows={3} />}>
          <CodeEditor label={common.label} value={text} language="json" onChange={onChange} />
        </Suspense>
      </Input.Wrapper>
    );
  }
  return (
    <TextInput {...common} description={description} {...(kind === 'NUMBER' && { inputMode: 'numeric' })} />
  );
}

export interface TemplateDialogProps {
  onName(name: string): void;
  onClose(): void;
}

/** Asks for the name of a new mail template. Nothing is stored until its texts are saved. */
export function TemplateDialog({ onName, onClose }: TemplateDialogProps) {
  const t = useTexts();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onName(name);
  };
  return (
    <InputDialog opened onClose={onClose} title={t('New mail template')}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('Name')}
            description={t('Letters, digits, _, . and -. Used to pick the template when sending.')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            pattern="[A-Za-z0-9_.\-]{1,80}"
            required
          />
          <Group justify="flex-end">
            <Button type="submit">{t('Go on')}</Button>
          </Group>
        </Stack>
      </form>
    </InputDialog>
  );
}
