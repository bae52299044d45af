import { type ChangeEvent, useEffect, useRef, useState } from 'react';

/**
 * For a text field whose value is kept elsewhere, such as in the address, which may take longer to have a
 * text than the next letter takes: until then React would put back the text of before, and letters of quick
 * typing would be lost. Returns what the field shows at once, and what to do on a change.
 */
export function useTypedText(value: string, onType: (text: string) => void) {
  const [text, setText] = useState(value);
  /** Texts that were typed and are not in `value` yet. */
  const typed = useRef<readonly string[]>([]);
  useEffect(() => {
    const place = typed.current.indexOf(value);
    typed.current = place < 0 ? [] : typed.current.slice(place + 1);
    if (place < 0) setText(value);
  }, [value]);
  const onChange = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const next = currentTarget.value;
    // Once it is typed back, nothing is on its way: a later value, such as that of a view, is another's.
    typed.current = next === value ? [] : [...typed.current, next];
    setText(next);
    onType(next);
  };
  return { value: text, onChange };
}
