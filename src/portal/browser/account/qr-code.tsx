import { encodeQR } from 'qr';

export interface QrCodeProps {
  /** The content that a camera reads. */
  readonly text: string;
  /** A description for screen readers. */
  readonly label: string;
}

/** The number of empty modules around the code that a camera needs. */
const QUIET_ZONE = 4;

/**
 * Dark on light in every theme, because few cameras read the opposite. The code is drawn here, and its
 * content is sent nowhere.
 */
export function QrCode({ text, label }: QrCodeProps) {
  // A screen is clean, so that little error correction is needed and the modules can be large.
  const rows = encodeQR(text, 'raw', { border: QUIET_ZONE, ecc: 'low' });
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg viewBox={`0 0 ${rows.length} ${rows.length}`} className="qr-code" role="img" aria-label={label}>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={squares.join('')} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
