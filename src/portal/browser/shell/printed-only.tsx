import { type ReactNode, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Renders its children only on paper. */
export function PrintedOnly({ children }: { readonly children: ReactNode }) {
  return useIsPrinted() ? children : null;
}

/** Whether the page is being printed. The browser prints only what is rendered at that moment. */
export function useIsPrinted(): boolean {
  const [isPrinted, setIsPrinted] = useState(false);
  useEffect(() => {
    const start = () => flushSync(() => setIsPrinted(true));
    const end = () => setIsPrinted(false);
    addEventListener('beforeprint', start);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', start);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinted;
}
