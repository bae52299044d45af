import { Text, Textarea, TextInput, type TextInputProps } from '@mantine/core';
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
  /** What is wrong with the number; '' if nothing is. */
  readonly fault?: string;
}

/**
 * An input for a number as people write it. The digits are grouped when the input loses the focus, not while
 * somebody types.
 */
export function NumberTextInput(props: NumberTextInputProps) {
  const { value, unit, onChange, error, onBlur, fault: outOfBounds = '', ...others } = props;
  const t = useTexts();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string>();
  const isNumber = value === '' || parseTypedNumber(value, unit) !== undefined;
  const fault = isNumber ? outOfBounds : t('This is no number. Write 120000.50 or 1,20,000.50.');
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
        rightSection: <Text c="dimmed">{unit}</Text>,
        rightSectionWidth: `calc(${unit.length}ch + 1.75rem)`,
        rightSectionPointerEvents: 'none' as const,
      })}
    />
  );
}

export interface CheckedTextInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  readonly value: string;
  onChange(value: string): void;
  /** What is wrong with the text; '' if nothing is. */
  readonly fault: string;
  readonly isLong: boolean;
}

/** An input for a text within bounds. What is wrong is said when the input loses the focus. */
export function CheckedTextInput(props: CheckedTextInputProps) {
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
