// Every page of the console over a large store: npm run test:console-scale -- [--store sqlite|postgres]...
// [--tenants N] [--hires N] [--audit N] [--open N]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTable } from '../../../src/cli/command.ts';
import { newDatabase, startPostgres } from '../../../src/counterparts/start-postgres.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { fillFleet } from './fill-fleet.ts';
import { manyRowsOf, openPages, scansOf } from './measure-pages.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    tenants: { type: 'string', default: '1000' },
    hires: { type: 'string', default: '100000' },
    audit: { type: 'string', default: '50000' },
    open: { type: 'string', default: '100' },
  },
});

const MOST_MS = 300;
const MOST_KILOBYTES = 200;
const MOST_STATEMENTS = 20;
const TIMES = 7;
/** Somebody searched by hand for what no index is kept for: one tenant's writes are gone through. */
const SEARCHES = new Set(['writes of a mapping version']);
/** Pages ask less often until all of them together stay within the bound. */
const SETTLE_S = 60;

const folder = await mkdtemp(join(tmpdir(), 'hirebridge-scale-'));
try {
  for (const kind of values.store)
    await (kind === 'postgres' ? onPostgres() : judge(kind, `sqlite:${folder}/store.db`));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres();
  try {
    await judge('postgres', await newDatabase(server.url));
  } finally {
    await server.stop();
  }
}

async function judge(kind: string, url: string): Promise<void> {
  const store = await openStore(url);
  await fillFleet(store, {
    tenants: Number(values.tenants),
    hires: Number(values.hires),
    audit: Number(values.audit),
  });
  await store.close();
  const pages = await openPages(url, kind === 'postgres' ? manyRowsOf : scansOf);
  const rows: string[][] = [];
  const wrong: string[] = [];
  for (const [name, path] of Object.entries(pages.paths)) {
    const { fastest, median, slowest, kilobytes, statements, scans } = await pages.measure(path, TIMES);
    const isWrong = fastest > MOST_MS || kilobytes > MOST_KILOBYTES || (scans.length > 0 && !SEARCHES.has(name));
    rows.push([
      name,
      fastest.toFixed(0),
      median.toFixed(0),
      slowest.toFixed(0),
      kilobytes.toFixed(0),
      `${statements}`,
      isWrong ? 'WRONG' : '',
    ]);
    if (isWrong) wrong.push(`${name}: ${scans.join('\n  ')}`);
  }
  const open = Number(values.open);
  const { statements: perSecond, refreshed } = await pages.leaveOpen(open, { settle: SETTLE_S, count: SETTLE_S });
  await pages.close();
  process.stdout.write(
    `${kind}\n${renderTable(['page', 'fastest ms', 'median', 'slowest', 'KB', 'statements', ''], rows)}\n`,
  );
  process.stdout.write(
    `${values.open} open pages ask ${perSecond.toFixed(1)} statements a second, ` +
      `and ${refreshed.toFixed(1)} of them are brought up to date\n`,
  );
  if (wrong.length > 0) process.stdout.write(`${wrong.join('\n')}\n`);
  if (wrong.length > 0 || perSecond > MOST_STATEMENTS) process.exitCode = 1;
}
