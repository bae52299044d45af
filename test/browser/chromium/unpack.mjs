/**
 * Prints where the Chromium of @sparticuz/chromium is, unpacked into TMPDIR. A program of its own, because
 * the package takes the folder, and whether to unpack the libraries Chromium needs, from the environment it
 * is loaded in.
 */
import chromium from '@sparticuz/chromium';

process.stdout.write(await chromium.executablePath());
