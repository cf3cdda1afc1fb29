import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { rowsOf } from '../../src/counterparts/start-postgres.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import type { World } from '../harness/world.ts';
import type { HR_SYSTEMS, HrSystem } from './hr-systems.ts';
import { type Canary, isId, isTold, type Person, tokensIn } from './people.ts';

export interface Round {
  store: 'sqlite' | 'postgres';
  hris: keyof typeof HR_SYSTEMS;
  /** All processes encrypt what they store and what Temporal is given. */
  isEncrypted?: boolean;
  /** The tenant is removed and not erased: what it held goes by its retention. */
  isKept?: boolean;
}

/** Files by who wrote them; the sandbox and the HR system are not ours to search. */
export interface Ground {
  round: Round;
  root: string;
  world: World;
  hr: HrSystem;
  people: Person[];
  /** Files of a store that is a server of its own. */
  cluster?: string;
  /** What commands said, and what was sent to the tenant's addresses. */
  said: string[];
  notified: string[];
  /** What stands in which file is told. */
  isVerbose: boolean;
  cli(...args: string[]): Promise<string>;
  /** Ends the worker and starts another: it begins at once with what it does each hour. */
  restartWorker(): Promise<void>;
}

export interface Look {
  when: string;
  /** Canaries that stand in each place. */
  found: Record<string, number>;
  faults: string[];
}

export async function inStore<T>({ storeUrl }: World, read: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(storeUrl);
  return read(store).finally(() => store.close());
}

/** Which tables have rows with these: what is in none of them stands in a free page or a log. */
export async function tablesWith(world: World, canaries: readonly Canary[]): Promise<string[]> {
  return inStore(world, async ({ kysely }) => {
    const tables = await kysely.introspection.getTables();
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await kysely
        .selectFrom(name as never)
        .selectAll()
        .execute();
      const tokens = tokensIn(Buffer.from(JSON.stringify(rows)));
      const here = canaries.filter(({ token }) => tokens.has(token));
      if (here.length > 0) found.push(tell(name, here));
    }
    return found;
  });
}

/** Canaries by the place where they stand. */
export type Found = Map<string, Set<Canary>>;

export function counts(found: Found): Record<string, number> {
  return Object.fromEntries([...found].map(([place, some]) => [place, some.size]));
}

function tell(place: string, some: readonly Canary[]): string {
  const kinds = Map.groupBy(some, ({ kind }) => kind);
  return `${[...kinds].map(([kind, these]) => `${these.length} ${kind}`).join(', ')} in ${place}`;
}

/** Beside the store, what may name somebody by an id (docs/privacy.md). */
const NAMING = new Set(['logs', 'Temporal', 'commands', 'notified']);

/** Only the store and its copies may hold a value of anybody, and neither where they are encrypted. */
export function elsewhere({ isEncrypted = false }: Round, found: Found): string[] {
  return [...found].flatMap(([place, some]) => {
    const isStore = place === 'store' || place.startsWith('backup');
    const wrong = [...some].filter((one) => {
      if (isId(one)) return !NAMING.has(place) && !isStore;
      return isTold(one) && place === 'commands' ? false : !isStore || isEncrypted;
    });
    return wrong.length === 0 ? [] : [tell(place, wrong)];
  });
}

/** What a process had read before may be written a moment later, and the log of the store is emptied after that. */
export async function nowhere(ground: Ground, canaries: readonly Canary[]): Promise<Pick<Look, 'found' | 'faults'>> {
  if (ground.cluster !== undefined) await emptyPostgres(ground.world.storeUrl);
  const found = await lookFor(ground, canaries);
  const faults = [...found].flatMap(([place, some]) => {
    // What was copied before holds them until it is deleted, and logs hold ids (docs/privacy.md).
    const wrong = [...some].filter((one) => place !== 'backup before' && !(isId(one) && place === 'logs'));
    return wrong.length === 0 ? [] : [tell(place, wrong)];
  });
  return { found: counts(found), faults };
}

/** As docs/privacy.md says, so that nothing of what was deleted is left in files of the server. */
async function emptyPostgres(url: string): Promise<void> {
  for (const statement of [
    'delete from pg_statistic',
    'vacuum full analyze',
    'checkpoint',
    'select pg_switch_wal()',
    'checkpoint',
  ])
    await rowsOf(url, statement);
}

/** A file that went meanwhile holds nothing; one that cannot be read might. */
function ifGone(error: NodeJS.ErrnoException): Buffer {
  if (error.code !== 'ENOENT') throw error;
  return Buffer.alloc(0);
}

/** Which of them stand in each place, by the bytes of its files: free pages and write-ahead logs are among those. */
export async function lookFor(ground: Ground, canaries: readonly Canary[]): Promise<Found> {
  const { root, world, cluster, hr, said, notified } = ground;
  const found: Found = new Map();
  const look = (place: string, bytes: Buffer): void => {
    const tokens = tokensIn(bytes);
    const here = canaries.filter(({ token }) => tokens.has(token));
    if (here.length === 0) return;
    found.set(place, new Set([...(found.get(place) ?? []), ...here]));
    const some = here.slice(0, 3).map(({ kind, token }) => `${kind} ${token}`);
    if (ground.isVerbose) process.stderr.write(`${place} in ${root}: ${some.join(', ')}\n`);
  };
  look('commands', Buffer.from(said.join('\n')));
  look('notified', Buffer.from(notified.join('\n')));
  look('logs', Buffer.from(await world.logs()));
  for (const [folder, name] of [
    [world.dataDir, 'data directory'],
    [join(root, 'temporal'), 'Temporal'],
    [join(root, 'tmp'), 'temp'],
    [join(root, 'crash'), 'crash'],
    [join(root, 'backups'), 'backup'],
    ...hr.notes,
    ...(cluster === undefined ? [] : [[cluster, 'store'] as const]),
  ] as const)
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      const isStore = relative(world.dataDir, path).startsWith('store.db');
      look(isStore ? 'store' : name === 'backup' ? `backup ${file.name}` : name, await readFile(path).catch(ifGone));
    }
  return found;
}
