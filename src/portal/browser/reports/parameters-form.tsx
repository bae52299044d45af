import { Button, Group } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language/use-texts';
import type { AskableReport } from './askable-report';
import { ParameterInput } from './parameter-input';

export interface ParametersFormProps {
  readonly form: AskableReport;
  readonly values: Readonly<Record<string, string>>;
  /** Whether the report of `values` is being run. */
  readonly isBusy: boolean;
  onRun(values: Readonly<Record<string, string>>): void;
}

export function ParametersForm({ form, values, isBusy, onRun }: ParametersFormProps) {
  const t = useTexts();
  const [written, setWritten] = useState(values);
  // Whoever has changed something need not wait for the report of before, which may take long.
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
        <Button type="submit" loading={isRunning}>
          {t('Run')}
        </Button>
      </Group>
    </form>
  );
}
