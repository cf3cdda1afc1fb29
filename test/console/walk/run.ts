// Somebody walks through the console of a real `up` by keyboard: npm run test:console
// AXE=FILE has axe-core look at every page as well (its licence, MPL, keeps it from being a dependency here).
import { renderTable } from '../../../src/cli/command.ts';
import { findChromium } from '../../sandbox/page/open-browser.ts';
import { openWalk, walks } from './walks.ts';

const executable = findChromium();
if (executable === undefined) {
  process.stderr.write('There is no chromium on PATH. Install it (apt-get install chromium) and run this again.\n');
  process.exit(1);
}
const walk = await openWalk(executable);
const rows: string[][] = [];
try {
  for (const name of Object.keys(walks)) {
    const began = performance.now();
    const wrong = await walk.take(name).then(
      () => walk.errors.join('; '),
      (error: unknown) => String(error),
    );
    rows.push([name, `${((performance.now() - began) / 1_000).toFixed(1)} s`, wrong === '' ? 'ok' : wrong]);
    process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
    // The next one would begin where this one did not come to.
    if (wrong !== '') break;
  }
} finally {
  process.stdout.write(`${renderTable(['walk', 'took', ''], rows)}\n`);
  await walk.close();
}
process.exitCode = rows.length === Object.keys(walks).length && rows.every((row) => row[2] === 'ok') ? 0 : 1;
