/** The logo and the name of the product. */
export function Brand() {
  return (
    <span className="brand">
      <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="var(--mantine-color-campus-7)" />
        <path d="M6 14 16 8l10 6-10 6z" fill="#fff" />
        <path d="M10 18v4.5c3.6 2.7 8.400 2.700 12 0V18l-6 3.600z" fill="#fff" opacity=".8" />
      </svg>
      <span className="brand-name">Campus Gateway</span>
    </span>
  );
}
