import { Brand } from '../entrance/entrance-card';

/** Continues the splash screen of the HTML (`server/portal.ts`) until the page is ready. */
export function Arriving() {
  return (
    <div className="arriving" role="status">
      <Brand />
    </div>
  );
}
