import { Autocomplete, Select, Switch, TextInput } from '@mantine/core';
import type { AskedParameter } from './askable-report';
import { nameOfColumn } from './report-values';

const INPUT_TYPES: Readonly<Record<string, string>> = { LocalDate: 'date', Month: 'month' };

export interface ParameterInputProps {
  readonly parameter: AskedParameter;
  readonly value: string;
  /** Instead of a day or a month these may be written, or whatever else is typed. */
  readonly words?: readonly string[] | undefined;
  onChange(value: string): void;
}

/** A parameter as the form asks for it: a switch, a choice, a day, a month or a text. */
export function ParameterInput({ parameter, value, words, onChange }: ParameterInputProps) {
  const { name, type, isRequired, description, choices } = parameter;
  const common = { label: nameOfColumn(name), description, required: isRequired };
  if (type === 'Boolean') {
    return (
      <Switch
        label={common.label}
        description={description}
        checked={value === 'true'}
        onChange={(event) => onChange(event.currentTarget.checked ? 'true' : '')}
      />
    );
  }
  if (choices) {
    return (
      <Select
        {...common}
        data={choices.map((choice) => ({
          value: choice,
          label: nameOfColumn(choice.toLowerCase().replaceAll('_', ' ')),
        }))}
        value={value === '' ? null : value}
        onChange={(next) => onChange(next ?? '')}
        clearable={!isRequired}
        allowDeselect={!isRequired}
        clearButtonProps={{ 'aria-label': common.label }}
      />
    );
  }
  if (words !== undefined)
    return <Autocomplete {...common} data={[...words]} value={value} onChange={onChange} />;
  return (
    <TextInput
      {...common}
      type={INPUT_TYPES[type] ?? 'text'}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
