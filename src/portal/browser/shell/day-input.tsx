import { Group, Input, type TextInputProps } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { parseTypedDay, printTypedDay, writesDayFirst } from '../language/days';
import { t } from '../language/texts';
import { IconButton } from './text-button';
import { TextField } from './text-field';

export interface DayInputProps
  extends Omit<TextInputProps, 'value' | 'onChange' | 'type' | 'min' | 'max' | 'rightSection'> {
  /** `YYYY-MM-DD`, or empty. */
  readonly value: string;
  readonly min?: string | undefined;
  readonly max?: string;
  /** Called with a complete day, or with an empty text. */
  onChange(day: string): void;
}

/**
 * A field for a day, in the order of the school. Browsers order their own fields for days by their language,
 * which often is American English. Those fields are used on a phone, whose calendar is better, and in a
 * browser that has the day first.
 */
export function DayInput({ max = '9999-12-31', ...others }: DayInputProps) {
  if (hasFieldsForDays()) return <TextField {...others} type="date" max={max} />;
  return <TypedDayInput {...others} max={max} />;
}

/** Whether to use the browser's own fields for days. */
function hasFieldsForDays(): boolean {
  return matchMedia('(pointer: coarse)').matches || writesDayFirst();
}

function TypedDayInput({ value, onChange, min, max, ...others }: DayInputProps) {
  const field = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  // The typed text stays unchanged until the field loses the focus.
  const [typed, setTyped] = useState<string>();
  const [hasFocus, setHasFocus] = useState(false);
  const text = typed ?? printTypedDay(value);
  const day = parseTypedDay(text);
  const fault = faultOf(day);
  useEffect(() => field.current?.setCustomValidity(fault), [fault]);
  const type = (next: string) => {
    setTyped(next);
    const written = parseTypedDay(next) ?? '';
    if (written !== value) onChange(written);
  };
  return (
    <TextField
      {...others}
      ref={field}
      value={text}
      placeholder={t('dd/mm/yyyy')}
      autoComplete="off"
      error={others.error ?? (hasFocus || fault === '' ? undefined : fault)}
      onChange={type}
      onFocus={() => setHasFocus(true)}
      onBlur={(event) => {
        setHasFocus(false);
        // A text that is not a day stays, so that it can be corrected.
        if (text === '' || day !== undefined) setTyped(undefined);
        others.onBlur?.(event);
      }}
      rightSectionWidth={36}
      rightSectionPointerEvents="all"
      rightSection={
        others.readOnly !== true && (
          <>
            <IconButton
              icon="calendar"
              label={t('Choose a day')}
              size="sm"
              tabIndex={-1}
              onClick={() => picker.current?.showPicker()}
            />
            <input
              ref={picker}
              type="date"
              className="day-picker"
              tabIndex={-1}
              aria-hidden="true"
              min={min}
              max={max}
              value={value}
              onChange={(event) => {
                setTyped(undefined);
                onChange(event.currentTarget.value);
              }}
            />
          </>
        )
      }
    />
  );

  function faultOf(whole: string | undefined): string {
    if (text === '') return '';
    if (whole === undefined) return t('Write a day such as 26/11/2026.');
    if (min !== undefined && whole < min) return t('{day} or later', { day: printTypedDay(min) });
    if (max !== undefined && whole > max) return t('{day} or earlier', { day: printTypedDay(max) });
    return '';
  }
}

export interface DayTimeInputProps
  extends Pick<TextInputProps, 'description' | 'error' | 'readOnly' | 'required' | 'inputWrapperOrder'> {
  readonly label: string;
  /** In the local time of the school, `YYYY-MM-DDTHH:MM:SS`, or empty. */
  readonly value: string;
  onChange(local: string): void;
}

const MIDNIGHT = '00:00:00';

/** A field for a time of a day, with the day in the order of the school, as `DayInput` has it. */
export function DayTimeInput({ value, onChange, ...others }: DayTimeInputProps) {
  if (hasFieldsForDays()) {
    return (
      <TextField
        {...others}
        type="datetime-local"
        max="9999-12-31T23:59:59"
        step={1}
        value={value}
        onChange={onChange}
      />
    );
  }
  return <TypedDayTimeInput {...others} {...{ value, onChange }} />;
}

function TypedDayTimeInput({ value, onChange, ...others }: DayTimeInputProps) {
  const { label, description, error, readOnly = false, required = false, inputWrapperOrder } = others;
  const [day = '', time = ''] = value.split('T');
  // While a day is typed there is no value; the time must return when the day is complete.
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
        <TextField
          type="time"
          step={1}
          aria-label={t('Time of {field}', { field: label })}
          value={time}
          disabled={day === ''}
          readOnly={readOnly}
          onChange={(text) => onChange(`${day}T${text || MIDNIGHT}`)}
        />
      </Group>
    </Input.Wrapper>
  );
}
