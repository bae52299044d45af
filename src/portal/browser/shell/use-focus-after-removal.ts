import { useEffect } from 'react';

/**
 * The library returns the focus to the element that opened a dialog within this time after the dialog closes.
 */
const GIVEN_BACK_MS = 60;

/**
 * Moves the focus when the element that had it is removed. After a dialog, the element that opened it gets
 * the focus. If that is gone too, such as a removed row, or if a pressed button is gone, the heading of the
 * page gets it; otherwise, the keyboard would start at the top of the window again.
 *
 * @see https://www.w3.org/TR/WCAG22/#focus-order
 */
export function useFocusAfterRemoval(): void {
  useEffect(() => {
    let focused: Element | undefined;
    let before: HTMLElement | undefined;
    const note = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      const isInDialog = target.closest('[role=dialog]') !== null;
      // Buttons in rows are ignored, because scrolling adds and removes rows.
      const isButton = target.matches('button') && target.closest('[role=row], [role=menu]') === null;
      focused = isInDialog || isButton ? target : undefined;
      // An item of a menu is removed with the menu; the element that opened the menu stays.
      if (!isInDialog && !target.closest('[role=menu]')) before = target;
    };
    const observer = new MutationObserver(() => {
      if (focused === undefined || focused.isConnected) return;
      focused = undefined;
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        before?.focus();
        if (document.activeElement !== document.body) return;
        document.querySelector<HTMLElement>('#content h1')?.focus({ preventScroll: true });
      }, GIVEN_BACK_MS);
    });
    document.addEventListener('focusin', note);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', note);
      observer.disconnect();
    };
  }, []);
}
