/** Inputs that pass on their values. Those of the library pass on events. */
import {
  Checkbox,
  type CheckboxProps,
  NativeSelect,
  type NativeSelectProps,
  Select,
  type SelectProps,
  Switch,
  type SwitchProps,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';

type ByValue<Props, Value> = Omit<Props, 'onChange'> & { onChange(value: Value): void };

interface TextEvent {
  readonly currentTarget: { readonly value: string };
}

interface CheckEvent {
  readonly currentTarget: { readonly checked: boolean };
}

const ofText = (onChange: (text: string) => void) => ({
  onChange: ({ currentTarget }: TextEvent) => onChange(currentTarget.value),
});

const ofCheck = (onChange: (isOn: boolean) => void) => ({
  onChange: ({ currentTarget }: CheckEvent) => onChange(currentTarget.checked),
});

/** A browser that has no field for months shows a text in its place. */
const MONTH = { placeholder: '2026-11', pattern: '\\d{4}-(0[1-9]|1[0-2])' };

export function TextField({ onChange, ...props }: ByValue<TextInputProps, string>) {
  return <TextInput {...(props.type === 'month' && MONTH)} {...props} {...ofText(onChange)} />;
}

export function LongTextField({ onChange, ...props }: ByValue<TextareaProps, string>) {
  return <Textarea autosize {...props} {...ofText(onChange)} />;
}

/** A choice in the list of the browser. */
export function ChoiceField({ onChange, ...props }: ByValue<NativeSelectProps, string>) {
  return <NativeSelect {...props} {...ofText(onChange)} />;
}

export function CheckField({ onChange, ...props }: ByValue<CheckboxProps, boolean>) {
  return <Checkbox {...props} {...ofCheck(onChange)} />;
}

export function SwitchField({ onChange, ...props }: ByValue<SwitchProps, boolean>) {
  return <Switch {...props} {...ofCheck(onChange)} />;
}

/** A choice of exactly one. */
export function PickField({ onChange, ...props }: ByValue<SelectProps, string>) {
  return <Select {...props} allowDeselect={false} onChange={(value) => onChange(value ?? '')} />;
}
