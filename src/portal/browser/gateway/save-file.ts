/** Hands a file to the browser, which keeps it where its user keeps downloads. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken hold of it by then; without this it would stay in memory as long as the page.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
