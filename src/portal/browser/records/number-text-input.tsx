import { Text, TextInput, type TextInputProps } from '@mantine/core';
import { useLayoutEffect, useRef, useState } from 'react';
import { groupInLakhs, parseTypedNumber } from '../language/typed-number';
import { useTexts } from '../language/use-texts';

export interface NumberTextInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** The number as in JSON, or a text that is no number and is shown as invalid. */
  readonly value: string;
  readonly unit?: string | null | undefined;
  /**
   * Called with such a number or text. Invalid input is passed as typed, so that nothing is lost or guessed.
   */
  onChange(value: string): void;
}

/**
 * An input for a number as people write it. The digits are grouped when the input loses the focus, not while
 * somebody types.
 */
export function NumberTextInput({ value, unit, onChange, error, onBlur, ...others }: NumberTextInputProps) {
  const t = useTexts();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string>();
  const isNumber = value === '' || parseTypedNumber(value, unit) !== undefined;
  const fault = isNumber ? '' : t('This is no number. Write 120000.50 or 1,20,000.50.');
  // The browser then keeps the form from being sent, and shows a message.
  useLayoutEffect(() => input.current?.setCustomValidity(fault), [fault]);
  const isTyping = typed !== undefined;
  return (
    <TextInput
      {...others}
      ref={input}
      inputMode="decimal"
      autoComplete="off"
      value={typed ?? (isNumber ? groupInLakhs(value) : value)}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        onChange(text.trim() === '' ? '' : (parseTypedNumber(text, unit) ?? text));
      }}
      onBlur={(event) => {
        setTyped(undefined);
        onBlur?.(event);
      }}
      error={error || (isTyping ? undefined : fault) || undefined}
      {...(unit && {
        rightSection: (
          <Text size="sm" c="dimmed">
            {unit}
          </Text>
        ),
        rightSectionWidth: `calc(${unit.length}ch + 1.75rem)`,
        rightSectionPointerEvents: 'none' as const,
      })}
    />
  );
}
