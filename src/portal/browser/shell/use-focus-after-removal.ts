import { useEffect } from 'react';

/** The library gives the focus back to what opened a dialog a moment after it is gone. */
const GIVEN_BACK_MS = 60;

/**
 * Gives the focus, when a dialog is gone that had it, to what had it before: what opened the dialog. Where
 * that is gone as well, such as the row that was removed, and where a button is gone that was pressed, the
 * heading of the page has it, for the keyboard would begin again at the top of the window.
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
      // Rows come and go as one scrolls; nothing was pressed then.
      const isButton = target.matches('button') && target.closest('[role=row], [role=menu]') === null;
      focused = isInDialog || isButton ? target : undefined;
      // An item of a menu goes with it: what opened the menu stays.
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
