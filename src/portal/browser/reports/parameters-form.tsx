import { Button, Group, Select, Switch, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language/use-texts';
import type { AskableReport, AskedParameter } from './askable-report';
import { nameOfColumn } from './report-values';

export interface ParametersFormProps {
  readonly form: AskableReport;
  readonly values: Readonly<Record<string, string>>;
  readonly isBusy: boolean;
  onRun(values: Readonly<Record<string, string>>): void;
}

const INPUT_TYPES: Readonly<Record<string, string>> = { LocalDate: 'date', Month: 'month' };

export function ParametersForm({ form, values, isBusy, onRun }: ParametersFormProps) {
  const t = useTexts();
  const [written, setWritten] = useState(values);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onRun(written);
  };
  return (
    <form onSubmit={submit} className="parameters">
      {form.parameters.map((parameter) => (
        <ParameterInput
          key={parameter.name}
          parameter={parameter}
          value={written[parameter.name] ?? ''}
          onChange={(value) => setWritten({ ...written, [parameter.name]: value })}
        />
      ))}
      <Group>
        <Button type="submit" loading={isBusy}>
          {t('Run')}
        </Button>
      </Group>
    </form>
  );
}

interface ParameterInputProps {
  readonly parameter: AskedParameter;
  readonly value: string;
  onChange(value: string): void;
}

function ParameterInput({ parameter, value, onChange }: ParameterInputProps) {
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
  return (
    <TextInput
      {...common}
      type={INPUT_TYPES[type] ?? 'text'}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
