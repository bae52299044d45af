/** The account in the header of the pages beside the portal, which React does not draw. */
import { RoomViewer, type RoomViewerQuery } from '../../../generated/portal/session/room-viewer';
import { callerHeaders, GRAPHQL_HEADERS } from './graphql-headers';
import type { LoginSession } from './login-session';

/** As `user` of the icons of the portal. */
const USER_SIGN = 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5a7.5 7.5 0 0 1 15 0';

/**
 * Fills the place that `printRoomHeader` leaves: with the user and the school, as a link to the account, or
 * with the way to the log-in. A page whose gateway does not answer is left as it is.
 */
export async function showRoomAccount(session: LoginSession): Promise<void> {
  const place = document.querySelector<HTMLAnchorElement>('.room-account');
  if (!place) return;
  const token = await session.accessToken();
  if (token === undefined) {
    place.append(textOf('room-account-user', 'Log in'));
    place.href = '/';
  } else {
    const viewer = await askViewer(token).catch(() => undefined);
    if (!viewer) return;
    const { name, domain } = viewer;
    const [user, school] = [textOf('room-account-user', name), textOf('room-account-school', domain.name)];
    place.append(userSign(), user, ' ', school);
    place.href = '/portal/account';
    place.title = `${name}, ${domain.name}`;
  }
  place.hidden = false;
}

async function askViewer(token: string): Promise<RoomViewerQuery['me']> {
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { ...GRAPHQL_HEADERS, ...callerHeaders(token, '') },
    body: JSON.stringify({ query: RoomViewer.text, operationName: RoomViewer.name }),
  });
  return (await answer.json()).data.me;
}

function userSign(): SVGSVGElement {
  const sign = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  sign.setAttribute('viewBox', '0 0 24 24');
  sign.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  line.setAttribute('d', USER_SIGN);
  sign.append(line);
  return sign;
}

function textOf(className: string, text: string): HTMLSpanElement {
  const span = document.createElement('span');
  span.className = className;
  span.textContent = text;
  return span;
}
