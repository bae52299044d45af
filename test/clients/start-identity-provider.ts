import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What the provider says of everybody. */
export interface Told {
  readonly claims?: { readonly email?: string; readonly email_verified?: boolean };
  /** How its user was asked who they are (RFC 8176). */
  readonly amr?: readonly string[];
  /** It asks whoever has no session there for a password, on a page of its own. */
  readonly asks?: boolean;
  /** It answers nothing but 503. */
  readonly isAway?: boolean;
  /** The next ID token is signed by somebody else. */
  readonly isForged?: boolean;
  /** It names no page where a session is ended. */
  readonly hasNoEnd?: boolean;
}

export interface TestProvider {
  readonly issuer: string;
  tell(told: Told): Promise<void>;
  stop(): void;
}

/** A real provider of identities beside the tests, for a gateway whose browsers come back to `callback`. */
export async function startIdentityProvider(callback: string, clientSecret: string): Promise<TestProvider> {
  const program = spawn(
    process.execPath,
    ['test/clients/identity-provider.mjs', callback, clientSecret],
    // The options of Jest are none of its own.
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NODE_OPTIONS: '' } },
  );
  const [printed] = await once(program.stdout, 'data');
  const issuer = String(printed).trim();
  return {
    issuer,
    async tell(told) {
      await fetch(`${issuer}/told`, {
        method: 'PUT',
        body: JSON.stringify({ claims: {}, amr: ['pwd'], ...told }),
      });
    },
    stop: () => void program.kill(),
  };
}
