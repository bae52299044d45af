/** The input for a field, according to its declaration. */
import {
  Card,
  Group,
  Input,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { isLongNumber, numberOfText } from '../gateway/long-number';
import { useViewer } from '../gateway/use-gateway';
import { fromWallTime, isTime, toWallTime } from '../language/days';
import { t } from '../language/texts';
import { groupInLakhs, parseTypedNumber } from '../language/typed-number';
import { DayInput, DayTimeInput } from '../shell/day-input';
import { IconButton, TextButton } from '../shell/text-button';
import { SwitchField, TextField } from '../shell/text-field';
import { useBoundFault } from './field-faults';
import { RecordSelect, ReferencePicker, useIsReadable } from './reference-picker';
import {
  type DeclaredField,
  isReferenceValue,
  sayAllowed,
  sayCode,
  sayFieldName,
} from './use-declared-collection';

interface FieldInputProps {
  readonly field: DeclaredField;
  readonly value: unknown;
  /** `null` removes the value. */
  onChange(value: unknown): void;
  readonly isReadOnly: boolean;
  readonly error?: ReactNode;
}

export function FieldInput({ field, value, onChange, isReadOnly, error }: FieldInputProps) {
  if (field.isList) return <ListInput {...{ field, value, onChange, isReadOnly, error }} />;
  return <SingleInput {...{ field, value, onChange, isReadOnly, error }} />;
}

function SingleInput({ field, value, onChange, isReadOnly, error }: FieldInputProps) {
  const common = {
    label: sayFieldName(field.name),
    description: described(field),
    required: field.isRequired,
    readOnly: isReadOnly,
    error,
  };
  const text = value === null || value === undefined ? '' : String(value);
  const isNamed = useIsReadable();
  // A stored value that a later declaration no longer allows is not reported where nobody may change it.
  const fault = useBoundFault()(isReadOnly ? null : value, field);
  if (field.type === 'reference') {
    return (
      <ReferencePicker
        {...common}
        field={field}
        value={isReferenceValue(value) ? value : undefined}
        onChange={onChange}
      />
    );
  }
  if (field.type === 'boolean') {
    return (
      <SwitchField
        label={common.label}
        description={described(field)}
        checked={value === true}
        disabled={isReadOnly}
        error={error}
        onChange={onChange}
      />
    );
  }
  const [collection = '', name = ''] = field.names?.split('.') ?? [];
  if (isNamed({ collection, field: name })) {
    return (
      <RecordSelect
        common={{ ...common, disabled: isReadOnly }}
        named={{ collection, field: name }}
        value={text}
        onChange={(next) => onChange(textOrNull(next))}
      />
    );
  }
  if (field.allowed) {
    return (
      <Select
        {...common}
        data={field.allowed.map((code) => ({ value: code, label: sayAllowed(code) }))}
        value={text === '' ? null : text}
        onChange={onChange}
        clearable={!field.isRequired && !isReadOnly}
        searchable={field.allowed.length > 8}
        disabled={isReadOnly}
        clearButtonProps={{ 'aria-label': t('Clear {field}', { field: common.label }) }}
      />
    );
  }
  if (field.type === 'number') {
    return (
      <NumberTextInput
        {...common}
        value={numberText(value)}
        onChange={(next) => onChange(valueOfNumberText(next))}
        unit={field.unit}
        fault={fault}
      />
    );
  }
  if (field.type === 'datetime')
    return <InstantInput common={{ ...common, error: error || fault }} {...{ text, onChange, field }} />;
  if (field.type === 'object') return <ObjectInput {...{ field, value, onChange, isReadOnly, error }} />;
  return (
    <CheckedTextInput
      {...common}
      {...(field.format === 'month' && { type: 'month' })}
      value={text}
      fault={fault}
      isLong={text.length > 60 || text.includes('\n')}
      onChange={(next) => onChange(textOrNull(next))}
    />
  );
}

interface InstantInputProps {
  readonly common: {
    readonly label: string;
    readonly readOnly: boolean;
    readonly error?: ReactNode;
  };
  readonly text: string;
  readonly field: DeclaredField;
  onChange(value: unknown): void;
}

/**
 * The input for a day, if the values are days, otherwise for an instant in the time zone of the school. A
 * text that is not a time, as old records may have, is shown unchanged.
 */
function InstantInput({ common, text, field, onChange }: InstantInputProps) {
  const { timeZone } = useViewer().domain;
  if (text !== '' && !isTime(text)) {
    return <TextField {...common} value={text} onChange={(text) => onChange(textOrNull(text))} />;
  }
  const isDay = text === '' ? field.format === 'date' : text.length === 10;
  if (isDay) {
    return <DayInput {...common} value={text} onChange={(day) => onChange(textOrNull(day))} />;
  }
  return (
    <DayTimeInput
      {...common}
      value={text === '' ? '' : toWallTime(text, timeZone)}
      onChange={(local) => onChange(local === '' ? null : fromWallTime(local, timeZone))}
    />
  );
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}

function ObjectInput({ field, value, onChange, isReadOnly, error }: FieldInputProps) {
  const members = field.fields ?? [];
  const object = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    <Input.Wrapper label={field.isList ? undefined : sayFieldName(field.name)} error={error}>
      <div className="object-fields">
        {members.map((member) => (
          <FieldInput
            key={member.name}
            field={{ ...member, description: '' }}
            value={object[member.name]}
            onChange={(next) => onChange({ ...object, [member.name]: next })}
            isReadOnly={isReadOnly}
          />
        ))}
      </div>
    </Input.Wrapper>
  );
}

function ListInput({ field, value, onChange, isReadOnly, error }: FieldInputProps) {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  const one: DeclaredField = { ...field, isList: false, isRequired: false, description: '' };
  const label = sayFieldName(field.name);
  return (
    <Input.Wrapper
      label={label}
      description={described(field)}
      error={error}
      required={field.isRequired}
      labelElement="div"
    >
      <Stack gap="xs" mt={6} role="group" aria-label={label}>
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry of a list has no name but its place.
          <Card key={index} withBorder padding="xs">
            <Group align="flex-end" wrap="nowrap">
              <div className="grow">
                <SingleInput
                  field={{
                    ...one,
                    name: field.type === 'object' ? field.name : `${field.name} ${index + 1}`,
                  }}
                  value={entry}
                  onChange={(next) => onChange(entries.with(index, next))}
                  isReadOnly={isReadOnly}
                />
              </div>
              {!isReadOnly && (
                <IconButton
                  icon="trash"
                  label={t('Take entry {number} out of {field}', { number: index + 1, field: label })}
                  onClick={() => onChange(entries.toSpliced(index, 1))}
                />
              )}
            </Group>
          </Card>
        ))}
        {!isReadOnly && (
          <TextButton
            label={t('Add to {field}', { field: label })}
            size="compact-sm"
            icon="plus"
            onClick={() => onChange([...entries, field.type === 'object' ? {} : null])}
            className="add-entry"
          />
        )}
      </Stack>
    </Input.Wrapper>
  );
}

/** A text stands for input that is not a number. */
function numberText(value: unknown): string {
  if (isLongNumber(value)) return value.$number;
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '';
}

/** `null` removes the value. Input that is not a number stays a text, which is not sent. */
function valueOfNumberText(text: string): unknown {
  if (text === '') return null;
  return parseTypedNumber(text) === undefined ? text : numberOfText(text);
}

/**
 * The description for the form: without sentences on how a value is stored, and with the names of the page.
 * `undefined` if there is none, because an empty text would take up a line.
 */
function described({ description }: DeclaredField): string | undefined {
  const sentences = description?.split(/(?<=[.।]) /).filter((sentence) => !/`_|`\w+\./.test(sentence)) ?? [];
  const said = sentences.join(' ').replaceAll(/`(\w+)`/g, (_all, code) => `“${sayCode(code)}”`);
  return said === '' ? undefined : said;
}

interface NumberTextInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** The number as in JSON, or another text, which is shown as invalid. */
  readonly value: string;
  readonly unit?: string | null | undefined;
  /**
   * Called with such a number or text. Invalid input is passed as typed, so that nothing is lost or guessed.
   */
  onChange(value: string): void;
  /** The fault of the number; '' if there is none. */
  readonly fault?: string;
}

/**
 * An input for a number as people write it. The digits are grouped when the input loses the focus, not while
 * somebody types.
 */
export function NumberTextInput(props: NumberTextInputProps) {
  const { value, unit, onChange, error, onBlur, fault: outOfBounds = '', ...others } = props;
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string>();
  const isNumber = value === '' || parseTypedNumber(value, unit) !== undefined;
  const fault = isNumber ? outOfBounds : t('This is not a number. Write 120000.50 or 1,20,000.50.');
  // The browser then keeps the form from being sent, and shows a message.
  useLayoutEffect(() => input.current?.setCustomValidity(fault), [fault]);
  const isTyping = typed !== undefined;
  return (
    <TextField
      {...others}
      ref={input}
      inputMode="decimal"
      autoComplete="off"
      value={typed ?? (isNumber ? groupInLakhs(value) : value)}
      onChange={(text) => {
        setTyped(text);
        onChange(text.trim() === '' ? '' : (parseTypedNumber(text, unit) ?? text));
      }}
      onBlur={(event) => {
        setTyped(undefined);
        onBlur?.(event);
      }}
      error={error || (isTyping ? undefined : fault) || undefined}
      {...(unit && {
        rightSection: <Text c="dimmed">{unit}</Text>,
        rightSectionWidth: `calc(${unit.length}ch + 1.75rem)`,
        rightSectionPointerEvents: 'none' as const,
      })}
    />
  );
}

interface CheckedTextInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  readonly value: string;
  onChange(value: string): void;
  /** The fault of the text; '' if there is none. */
  readonly fault: string;
  readonly isLong: boolean;
}

/** An input for a text within bounds. A fault is shown when the input loses the focus. */
function CheckedTextInput(props: CheckedTextInputProps) {
  const { value, onChange, fault, error, isLong, ...others } = props;
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const [isTyping, setIsTyping] = useState(false);
  useLayoutEffect(() => input.current?.setCustomValidity(fault), [fault]);
  const Component = isLong ? Textarea : TextInput;
  return (
    <Component
      {...(others as object)}
      {...(isLong && { autosize: true, minRows: 2, maxRows: 12 })}
      ref={input}
      value={value}
      onFocus={() => setIsTyping(true)}
      onBlur={() => setIsTyping(false)}
      onChange={({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
        onChange(currentTarget.value)
      }
      error={error || (isTyping ? undefined : fault) || undefined}
    />
  );
}
