import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';
import { useExplorerContext } from './explorer-context';

const NEXT_THEME = { system: 'light', light: 'dark', dark: 'system' } as const;
const THEME_SIGNS = { system: '◐', light: '☀', dark: '☾' } as const;

/** Beside the tabs: whose school, who is logged in, light or dark, the way out. */
export function AccountBar() {
  const { session, user, school } = useExplorerContext();
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme) ?? 'system';

  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    // GraphiQL asks the system once; the editors have to be told of a change.
    const follow = () => theme === 'system' && setTheme(null);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, [theme, setTheme]);

  function switchTheme() {
    const next = NEXT_THEME[theme];
    setTheme(next === 'system' ? null : next);
  }

  return (
    <div className="account-bar">
      <span className="account-who" title={`${user.name}, ${user.roles.join(', ')}`}>
        <span className="account-school">{school}</span> <strong>{user.userName}</strong>
      </span>
      <button
        type="button"
        onClick={switchTheme}
        aria-label={`Colours: ${theme}. Change to ${NEXT_THEME[theme]}`}
        title={`Colours: ${theme}`}
      >
        <span aria-hidden="true">{THEME_SIGNS[theme]}</span>
      </button>
      <button type="button" onClick={() => void session.logOut()}>
        Log out
      </button>
    </div>
  );
}
