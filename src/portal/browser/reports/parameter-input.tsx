import { Autocomplete, Select, Switch, TextInput } from '@mantine/core';
import { useReportWords } from '../language/use-report-words';
import { CodeSpans } from '../shell/code-spans';
import { DayInput } from '../shell/day-input';
import type { AskedParameter } from './askable-report';
import { nameOfColumn, nameOfEnumValue } from './name-of-column';
import { useNamedRecords } from './named-records';
import { RecordParameter } from './record-parameter';

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
  const { name, type, isRequired, choices } = parameter;
  const say = useReportWords();
  const description = <CodeSpans text={describe(parameter, say)} />;
  const named = useNamedRecords(name);
  const isById = named?.field === '_id';
  const common = {
    label: say(nameOfColumn(isById ? name.replace(/Id$/, '') : name)),
    // A user who selects a person by name need not know that an id is sent.
    description: isById ? undefined : description,
    required: isRequired,
    // The labels of the inputs in a row take one line each, whatever the length of their descriptions.
    inputWrapperOrder: INPUT_ORDER,
  };
  if (type === 'Boolean') {
    const isOnByDefault = parameter.description.endsWith('Default: true.');
    return (
      <Switch
        label={common.label}
        description={description}
        checked={value === '' ? isOnByDefault : value === 'true'}
        onChange={({ currentTarget: { checked } }) =>
          onChange(checked === isOnByDefault ? '' : String(checked))
        }
      />
    );
  }
  if (choices) {
    return (
      <Select
        {...common}
        data={choices.map((choice) => ({
          value: choice,
          label: say(nameOfEnumValue(choice)),
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
  if (named) return <RecordParameter {...{ common, named, value, onChange }} />;
  if (type === 'LocalDate') return <DayInput {...common} value={value} onChange={onChange} />;
  return (
    <TextInput
      {...common}
      type={type === 'Month' ? 'month' : 'text'}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

const CODE = /\b[A-Z][A-Z_]{2,}\b/g;

/** A switch shows its default itself, and a choice has the names of the list. */
function describe({ description, type, choices }: AskedParameter, say: (text: string) => string): string {
  const text = say(description);
  if (type === 'Boolean') return text.replace(/ Default: (?:true|false)\.$/, '');
  return text.replaceAll(CODE, (code) => (choices?.includes(code) ? say(nameOfEnumValue(code)) : code));
}
