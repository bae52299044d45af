import { Autocomplete, Group, Select } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { nameOfColumn, nameOfEnumValue } from '../language/name-of-field';
import { say, t } from '../language/texts';
import { type NamedRecords, RecordSelect, useIsReadable } from '../records/reference-picker';
import { CodeSpans } from '../shell/code-to-copy';
import { DayInput } from '../shell/day-input';
import { TextButton } from '../shell/text-button';
import { LongTextField, SwitchField, TextField } from '../shell/text-field';
import type { AskableReport, AskedParameter } from './askable-report';

export interface ParametersFormProps {
  readonly form: AskableReport;
  readonly values: Readonly<Record<string, string>>;
  /** Whether the report of `values` is being run. */
  readonly isBusy: boolean;
  onRun(values: Readonly<Record<string, string>>): void;
}

export function ParametersForm({ form, values, isBusy, onRun }: ParametersFormProps) {
  const [written, setWritten] = useState(values);
  // After a change, the user need not wait for the previous report, which may take long.
  const isRunning = isBusy && Object.entries(written).every(([name, value]) => value === values[name]);
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
      <Group className="parameters-foot">
        <TextButton label={t('Run')} isMain type="submit" loading={isRunning} />
      </Group>
    </form>
  );
}

const INPUT_ORDER: ('label' | 'input' | 'description' | 'error')[] = [
  'label',
  'input',
  'description',
  'error',
];

export interface ParameterInputProps {
  readonly parameter: AskedParameter;
  readonly value: string;
  /** Words to offer in place of a day or month. Other texts are accepted as well. */
  readonly words?: readonly string[] | undefined;
  onChange(value: string): void;
}

/** The input of a parameter: a switch, a choice, a record, a day, a month or a text. */
export function ParameterInput({ parameter, value, words, onChange }: ParameterInputProps) {
  const { name, type, isRequired, choices, titles = {}, lines } = parameter;
  const described = describe(parameter);
  const description = described === '' ? undefined : <CodeSpans text={described} />;
  const named = useNamedRecords(name);
  const isById = named?.field === '_id';
  const common = {
    label: parameter.title ?? say(nameOfColumn(isById ? name.replace(/Id$/, '') : name)),
    // A user who selects a person by name need not know that an id is sent.
    description: isById ? undefined : description,
    required: isRequired,
    // The labels of the inputs in a row take one line each, whatever the length of their descriptions.
    inputWrapperOrder: INPUT_ORDER,
  };
  if (type === 'Boolean') {
    const isOnByDefault = parameter.description.endsWith('Default: true.');
    return (
      <SwitchField
        label={common.label}
        description={description}
        checked={value === '' ? isOnByDefault : value === 'true'}
        onChange={(checked) => onChange(checked === isOnByDefault ? '' : String(checked))}
      />
    );
  }
  if (choices) {
    return (
      <Select
        {...common}
        data={choices.map((choice) => ({
          value: choice,
          label: titles[choice] ?? say(nameOfEnumValue(choice)),
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
  if (named) return <RecordSelect {...{ common, named, value, onChange }} />;
  if (type === 'LocalDate') return <DayInput {...common} value={value} onChange={onChange} />;
  if (lines !== undefined)
    return <LongTextField {...{ ...common, value }} minRows={lines} onChange={onChange} />;
  return (
    <TextField {...common} type={type === 'Month' ? 'month' : 'text'} value={value} onChange={onChange} />
  );
}

const CODE = /\b[A-Z][A-Z_]{2,}\b/g;

/** A switch shows its default itself, and a choice has the names of the list. */
function describe({ description, type, choices }: AskedParameter): string {
  const text = say(description);
  if (type === 'Boolean') return text.replace(/ Default: (?:true|false)\.$/, '');
  return text.replaceAll(CODE, (code) => (choices?.includes(code) ? say(nameOfEnumValue(code)) : code));
}

/** By the names of parameters, which mean the same in every report. */
const BY_PARAMETER: Readonly<Record<string, NamedRecords>> = {
  admissionNo: { collection: 'registration', field: 'sequence' },
  class: { collection: 'class', field: 'name' },
  feeHead: { collection: 'fee_head', field: 'name' },
  studentId: { collection: 'registration', field: '_id' },
  userId: { collection: 'pltf_user', field: '_id' },
};

/** The records of a parameter. `undefined` if it refers to none, or if the viewer may not read them. */
function useNamedRecords(parameter: string): NamedRecords | undefined {
  const named = BY_PARAMETER[parameter];
  return useIsReadable()(named) ? named : undefined;
}
