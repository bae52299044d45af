import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { type Credentials, Refusal } from './login-session';

export interface LoginFormProps {
  /** Prefilled, and not to be changed, when a session is to go on. */
  readonly userName?: string;
  /** Offered on a press: the users of the demo school. */
  readonly demoUsers: readonly string[];
  onLogin(login: Credentials): Promise<void>;
}

export function LoginForm({ userName, demoUsers, onLogin }: LoginFormProps) {
  const [refusal, setRefusal] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  // There is nothing else on the page to do first.
  useEffect(() => {
    form.current?.querySelector<HTMLInputElement>('input:not([readonly])')?.focus();
  }, []);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const textOf = (name: string) => String(fields.get(name) ?? '').trim();
    setIsBusy(true);
    setRefusal('');
    try {
      await onLogin({
        userName: textOf('userName'),
        password: String(fields.get('password') ?? ''),
        domain: textOf('domain'),
      });
    } catch (error) {
      setRefusal(
        error instanceof Refusal ? error.message : 'The gateway cannot be reached. Try again in a moment.',
      );
      form.current?.querySelector<HTMLInputElement>('input[name=password]')?.select();
    } finally {
      setIsBusy(false);
    }
  }

  function fillIn(user: string) {
    for (const [name, value] of [
      ['userName', user],
      ['password', `demo-${user}`],
    ] as const) {
      const input = form.current?.querySelector<HTMLInputElement>(`input[name=${name}]`);
      if (input) input.value = value;
    }
    form.current?.requestSubmit();
  }

  return (
    <form ref={form} className="login-form" onSubmit={submit}>
      <label>
        User name
        <input
          name="userName"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          defaultValue={userName}
          readOnly={userName !== undefined}
        />
      </label>
      <label>
        Password
        <input
          name="password"
          type="password"
          autoComplete="current-password"
          required
          aria-describedby={`${id}-refusal`}
          aria-invalid={refusal !== ''}
        />
      </label>
      {userName === undefined && (
        <details>
          <summary>I am a user of a branch</summary>
          <label>
            Branch
            <input
              name="domain"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder="its id, as your administrator calls it"
            />
          </label>
        </details>
      )}
      <p id={`${id}-refusal`} className="refusal" role="alert">
        {refusal}
      </p>
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? 'Logging in …' : 'Log in'}
      </button>
      {demoUsers.length > 0 && userName === undefined && (
        <fieldset className="demo-users">
          <legend>Demo school: log in as</legend>
          {demoUsers.map((user) => (
            <button key={user} type="button" onClick={() => fillIn(user)} disabled={isBusy}>
              {user}
            </button>
          ))}
          <p>
            The password of each is <code>demo-</code> and the user name.
          </p>
        </fieldset>
      )}
    </form>
  );
}
