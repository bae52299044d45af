import { Group, Input, TextInput, type TextInputProps } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTexts } from '../language/use-texts';
import { DayInput, hasFieldsForDays } from './day-input';

export interface DayTimeInputProps
  extends Pick<TextInputProps, 'description' | 'error' | 'readOnly' | 'required' | 'inputWrapperOrder'> {
  readonly label: string;
  /** As a clock of the school shows it, `YYYY-MM-DDTHH:MM:SS`, or empty. */
  readonly value: string;
  onChange(local: string): void;
}

const MIDNIGHT = '00:00:00';

/** A field for a time of a day, with the day in the order of the school, as `DayInput` has it. */
export function DayTimeInput({ value, onChange, ...others }: DayTimeInputProps) {
  if (hasFieldsForDays()) {
    return (
      <TextInput
        {...others}
        type="datetime-local"
        max="9999-12-31T23:59:59"
        step={1}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return <TypedDayTimeInput {...others} {...{ value, onChange }} />;
}

function TypedDayTimeInput({ value, onChange, ...others }: DayTimeInputProps) {
  const t = useTexts();
  const { label, description, error, readOnly = false, required = false, inputWrapperOrder } = others;
  const [day = '', time = ''] = value.split('T');
  // There is no value while a day is typed, and the time is to be there again when it is whole.
  const lastTime = useRef(MIDNIGHT);
  useEffect(() => {
    if (time !== '') lastTime.current = time;
  }, [time]);
  return (
    <Input.Wrapper
      {...{ label, description, error, required }}
      labelElement="div"
      {...(inputWrapperOrder && { inputWrapperOrder })}
    >
      <Group gap="xs" wrap="nowrap" grow>
        <DayInput
          aria-label={label}
          value={day}
          onChange={(next) => onChange(next === '' ? '' : `${next}T${lastTime.current}`)}
          {...{ readOnly, required }}
        />
        <TextInput
          type="time"
          step={1}
          aria-label={t('Time of {field}', { field: label })}
          value={time}
          disabled={day === ''}
          readOnly={readOnly}
          onChange={(event) => onChange(`${day}T${event.currentTarget.value || MIDNIGHT}`)}
        />
      </Group>
    </Input.Wrapper>
  );
}
