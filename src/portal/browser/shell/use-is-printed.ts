import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** While the page is printed, which waits for nothing that is drawn later. */
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
