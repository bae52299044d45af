import { encodeQR } from 'qr';

export interface QrCodeProps {
  /** What a camera reads. */
  readonly text: string;
  /** What it is, for those who do not see it. */
  readonly label: string;
}

/** How many modules a camera needs around the code to find it. */
const QUIET_ZONE = 4;

/** Dark on light in every theme: few cameras read the opposite. It is made here, and sent nowhere. */
export function QrCode({ text, label }: QrCodeProps) {
  // A screen is clean, so that few faults are to be corrected and the modules may be large.
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
