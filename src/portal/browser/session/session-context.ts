import { createContext, useContext } from 'react';
import type { LoginSession } from './login-session';

export const SessionContext = createContext<LoginSession | undefined>(undefined);

export function useSession(): LoginSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('The session was asked for outside of the portal');
  return session;
}
