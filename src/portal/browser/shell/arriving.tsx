import { Brand } from '../entrance/brand';

/** What the page shows until the script has come (`server/portal.ts`) and then goes on to show. */
export function Arriving() {
  return (
    <div className="arriving" role="status">
      <Brand />
    </div>
  );
}
