/** Changes one setting by a control for its type, or resets it to its default. */
import { Input, NativeSelect, Text, TextInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import {
  RemoveSchoolSetting,
  SchoolSettings,
  SetSchoolSetting,
  type ShownPropertyFragment,
} from '../../../generated/portal/settings/settings';
import { useChange } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { FormDialog } from '../shell/change-dialog';
import { CodeSpans } from '../shell/code-to-copy';
import { ChangedMeanwhile, savedOver, useNotice } from '../shell/confirm-dialog';
import { findJsonFault } from '../shell/find-json-fault';
import { LoadingState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { parseProperty, printProperty, useSettingWords, valueInForce } from './use-setting-words';

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
  return (
    <FormDialog
      title={title}
      action={t('Save')}
      isBusy={set.isPending}
      isReady={text !== '' && parsed !== undefined}
      problem={theirs ? null : problem}
      onClose={onClose}
      onSubmit={() => {
        remove.reset();
        set.mutate(
          { name, value: parsed, ifMatch },
          { onSuccess: () => done(t('{name} is saved.', { name: title })) },
        );
      }}
      note={
        isSet &&
        !isInherited && (
          <TextButton
            label={t('Reset to default')}
            mr="auto"
            loading={remove.isPending}
            onClick={() =>
              remove.mutate(
                { name, ifMatch },
                { onSuccess: () => done(t('{name} is reset.', { name: title })) },
              )
            }
          />
        )
      }
    >
      <Text component="div">
        <CodeSpans text={say(description)} />
      </Text>
      {isSecret && <Text>{t('The value is never shown, and neither is the one you set now.')}</Text>}
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
    </FormDialog>
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
