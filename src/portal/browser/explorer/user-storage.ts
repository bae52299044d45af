/** The widths of the panels until the user drags them: library to the rest, operation to result. */
const FIRST_WIDTHS: Readonly<Record<string, string>> = {
  'graphiql:docExplorerFlex': '0.3',
  'graphiql:editorFlex': '0.65',
};

/**
 * Stores the tabs and history of GraphiQL in this browser, separately for each user, because users may share
 * a browser. They share the theme.
 */
const SHARED = 'graphiql:theme';

export function createUserStorage(domain: string, userId: string) {
  const prefix = `campus-explore:${domain}:${userId}:`;
  const keyOf = (key: string) => (key === SHARED ? key : prefix + key);
  const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  return {
    getItem: (key: string) => localStorage.getItem(keyOf(key)) ?? FIRST_WIDTHS[key] ?? null,
    setItem: (key: string, value: string) => localStorage.setItem(keyOf(key), value),
    removeItem: (key: string) => localStorage.removeItem(keyOf(key)),
    clear: () => {
      for (const key of keys()) localStorage.removeItem(key);
    },
    get length() {
      return keys().length;
    },
  };
}
