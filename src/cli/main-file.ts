import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command line's own file, for parts that run as processes: `main.ts` in a clone, `main.js` in a package. */
export const MAIN_FILE = fileURLToPath(new URL(`main${extname(import.meta.filename)}`, import.meta.url));
