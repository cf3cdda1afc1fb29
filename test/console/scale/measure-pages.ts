import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { startConsole } from '../../../src/console/console.ts';
import { createRootLogger } from '../../../src/log.ts';
import { openStore, type Store } from '../../../src/store/open-store.ts';
import { type Asked, plansOf, recorder, rowsIn, stepsOf } from '../../store/recording-store.ts';
import { BIG } from './fill-fleet.ts';

const TOKEN = 'a-token-of-a-test-0123456789';

/** The console over a large store, as somebody who may see everything. */
export interface OpenPages {
  store: Store;
  /** What a page is, by its address. */
  paths: Readonly<Record<string, string>>;
  measure(path: string, times: number): Promise<Measured>;
  /** What so many open pages ask in a second once they have settled, and how many of them are brought up to date. */
  leaveOpen(
    pages: number,
    seconds: { settle: number; count: number },
  ): Promise<{ statements: number; refreshed: number }>;
  close(): Promise<void>;
}

export interface Measured {
  /** Of the answers, milliseconds. The fastest says what a page takes; the rest says what else the machine did. */
  fastest: number;
  median: number;
  slowest: number;
  kilobytes: number;
  statements: number;
  /** Its statements that go through more than they show. */
  scans: string[];
}

/** `longReads` says which of a page's statements read too much. */
export async function openPages(
  storeUrl: string,
  longReads: (store: Store, asked: readonly Asked[]) => Promise<string[]>,
): Promise<OpenPages> {
  const { plugin, asked } = recorder();
  const store = await openStore(storeUrl, { plugins: [plugin] });
  const running = await startConsole({
    port: 0,
    access: { tokens: [{ by: 'ann', token: TOKEN, grants: [{ role: 'admin', tenants: 'all' }] }], oidc: undefined },
    temporalUi: undefined,
    places: { dataDir: '/nowhere', tenantsDir: '/nowhere' },
    store,
    log: createRootLogger({ write: () => undefined }, 'error'),
    act: () => Promise.reject(new Error('nothing is done here')),
  });
  const entry = await fetch(`${running.url}/?token=${TOKEN}`, { redirect: 'manual' });
  const cookie = (entry.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(running.url + path, { headers: { cookie, ...headers }, redirect: 'manual' });
    return { status: answer.status, text: await answer.text() };
  };
  const paths = await pathsOf(store);
  return {
    store,
    paths,
    async measure(path, times) {
      const took: number[] = [];
      let size = 0;
      let statements = 0;
      const scans = new Set<string>();
      for (let n = 0; n < times; n += 1) {
        asked.splice(0);
        const began = performance.now();
        const { status, text } = await get(path);
        took.push(performance.now() - began);
        if (status >= 400) throw new Error(`${path} answers ${status}`);
        size = Buffer.byteLength(text) / 1_024;
        const own = asked.splice(0);
        statements = Math.max(statements, own.length);
        if (n > 0) continue;
        for (const scan of await longReads(store, own)) scans.add(scan);
      }
      took.sort((a, b) => a - b);
      const [fastest = 0] = took;
      const median = took[Math.floor(took.length / 2)] ?? 0;
      return { fastest, median, slowest: took.at(-1) ?? 0, kilobytes: size, statements, scans: [...scans] };
    },
    async leaveOpen(pages, { settle, count }) {
      const every = Object.values(paths);
      let isOver = false;
      let refreshed = 0;
      const open = Array.from({ length: pages }, (_, n) =>
        keepFresh(get, every[n % every.length] ?? '/', { isOver: () => isOver, done: () => void (refreshed += 1) }),
      );
      await pause(settle * 1_000);
      asked.splice(0);
      refreshed = 0;
      await pause(count * 1_000);
      const found = { statements: asked.splice(0).length / count, refreshed: refreshed / count };
      isOver = true;
      await Promise.all(open);
      return found;
    },
    async close() {
      await running.close();
      await store.close();
    },
  };
}

const SOONEST_MS = 3_000;
const LATEST_MS = 60_000;

/** What console.js does with a page that stays open. */
async function keepFresh(
  get: (path: string, headers: Record<string, string>) => Promise<{ status: number }>,
  path: string,
  { isOver, done }: { isOver: () => boolean; done: () => void },
): Promise<void> {
  let waitMs = SOONEST_MS;
  for (let due = performance.now() + waitMs * (0.5 + Math.random()); !isOver(); await pause(100)) {
    if (performance.now() < due) continue;
    const { status } = await get(path, { 'x-hirebridge-refresh': '1' });
    if (status === 200) done();
    waitMs = status === 200 ? Math.max(SOONEST_MS, waitMs * 0.8) : Math.min(LATEST_MS, waitMs * 2);
    due = performance.now() + waitMs * (0.8 + Math.random() * 0.4);
  }
}

/** Every page, by what it is, of what the store holds. */
export async function pathsOf({ kysely }: Store): Promise<Record<string, string>> {
  const hire = await kysely
    .selectFrom('hires')
    .select(['job_candidate_id', 'employee_id', 'opened_at'])
    .where('tenant_id', '=', BIG)
    .where('state', '=', 'done')
    .orderBy('opened_at')
    .limit(1)
    .executeTakeFirstOrThrow();
  const hold = await kysely
    .selectFrom('holds')
    .select('hold_id')
    .where('code', '=', 'IDENTITY_AMBIGUOUS')
    .limit(1)
    .executeTakeFirstOrThrow();
  const delivery = await kysely
    .selectFrom('inbox')
    .select('body_hash')
    .where('tenant_id', '=', BIG)
    .limit(1)
    .executeTakeFirstOrThrow();
  const plan = await kysely
    .selectFrom('saved_plans')
    .select('plan_hash')
    .where('tenant_id', '=', BIG)
    .limit(1)
    .executeTakeFirstOrThrow();
  const id = hire.job_candidate_id;
  const middle = encodeURIComponent(JSON.stringify([Date.now() - 180 * 24 * 3_600_000, 'tenant-1', '1', 1]));
  const audited = encodeURIComponent(JSON.stringify([Date.now() - 180 * 24 * 3_600_000, 0]));
  return {
    overview: '/',
    'overview, one found': '/?q=tenant-77',
    'overview, in the middle': '/?from=500',
    tenant: `/tenants/${BIG}`,
    hires: '/hires',
    'hires, in the middle': `/hires?after=${middle}`,
    'hires, open': '/hires?state=open',
    'hires of a tenant': `/hires?tenant=${BIG}&state=done`,
    'hires, none found': '/hires?id=nobody',
    'hires, one by its employee': `/hires?id=${hire.employee_id}`,
    hire: `/hires/${BIG}/${id}`,
    holds: '/holds',
    'holds, closed too': '/holds?all=yes',
    'holds of one reason': '/holds?code=PERSON_BEING_HIRED',
    'holds of one reason, closed too': '/holds?all=yes&code=PERSON_BEING_HIRED',
    'holds of a reason that is none': '/holds?all=yes&code=NO_SHOW',
    'holds of a tenant': `/holds?tenant=${BIG}`,
    'holds of a tenant, closed too': `/holds?tenant=${BIG}&all=yes`,
    hold: `/holds/${hold.hold_id}`,
    answer: `/holds/${hold.hold_id}/answer?answer=create`,
    streams: '/streams',
    'streams of a tenant': `/streams?tenant=${BIG}`,
    stream: `/streams/${BIG}/candidates`,
    conflicts: `/streams/${BIG}/conflicts`,
    deliveries: '/deliveries',
    'deliveries of a tenant': `/deliveries?tenant=${BIG}`,
    'deliveries, searched': `/deliveries?tenant=${BIG}&text=nobody`,
    'deliveries, none waits': `/deliveries?tenant=${BIG}&state=waiting`,
    'deliveries, those left': `/deliveries?tenant=${BIG}&state=undeliverable`,
    delivery: `/deliveries/${BIG}/${delivery.body_hash.slice(0, 12)}`,
    changes: `/changes/${BIG}`,
    plan: `/changes/${BIG}/plans/${plan.plan_hash.slice(0, 12)}`,
    mapping: `/changes/${BIG}/mappings/employee`,
    audit: '/audit',
    'audit, in the middle': `/audit?after=${audited}`,
    'audit, one person': '/audit?by=person-3',
    'audit, nobody': '/audit?by=nobody',
    'audit, never done': '/audit?act=frozen',
    'audit of a tenant': `/audit?tenant=${BIG}`,
    'audit of a tenant, nobody': `/audit?tenant=${BIG}&by=nobody`,
    writes: `/audit/${BIG}/writes`,
    'writes of a mapping version': `/audit/${BIG}/writes?mapping=none`,
    'writes of a record': `/audit/${BIG}/writes?record=${id}`,
    'writes of a week': `/audit/${BIG}/writes?from=2026-11-01&to=2026-11-08&kind=update&by=nobody`,
    'rate limits': `/rate-limits?tenant=${BIG}`,
    'set up a tenant': '/setup',
  };
}

/** Tables that grow with every hire, every event and everything that somebody does. */
const GROWING = (
  'inbox hires intents plans holds hints persons person_keys foreign_writes purged_writes field_conflicts ' +
  'hire_documents exchange_pairs audit saved_plans saved_plan_records stream_passes'
).split(' ');

/** What waits has an index of its own: to go through that is to read what is shown. */
const WAITING = /holds_waiting|holds_once_open|holds_open|inbox_left|inbox_stuck/;

/** Statements whose plan goes through all of a growing table, however many rows it has now. */
export async function scansOf(store: Store, asked: readonly Asked[]): Promise<string[]> {
  const plans = await plansOf(store, asked);
  const isScan = (line: string): boolean =>
    !WAITING.test(line) &&
    GROWING.some((table) => new RegExp(`^SCAN ${table}\\b|Seq Scan on ${table}\\b`).test(line.trim()));
  return plans
    .filter(({ sql, lines }) => !endsEarly(sql, lines))
    .flatMap(({ lines, sql }) => lines.filter(isScan).map((line) => `${line.trim()}: ${sql}`));
}

/** The first rows of an index, and none of them left out: as many are read as are shown. */
function endsEarly(statement: string, lines: readonly string[]): boolean {
  return / limit /.test(statement) && !/ where /.test(statement) && !lines.includes('USE TEMP B-TREE FOR ORDER BY');
}

/** What one step of a statement may read of a growing table: a small part of it, and of what the largest tenant has. */
const MOST_ROWS = 5_000;

/** Steps that went through more rows than that. Only Postgres says so, and only a full table shows it. */
export async function manyRowsOf(store: Store, asked: readonly Asked[]): Promise<string[]> {
  const found: string[] = [];
  for (const { node, queryId } of asked) {
    const compiled = store.kysely.getExecutor().compileQuery(node, queryId);
    if (!/^(?:select|with)\b/.test(compiled.sql)) continue;
    for (const step of await stepsOf(store, compiled)) {
      const table = step['Relation Name'];
      if (table !== undefined && GROWING.includes(table) && rowsIn(step) > MOST_ROWS)
        found.push(`${step['Node Type']} reads ${rowsIn(step)} rows of ${table}: ${compiled.sql}`);
    }
  }
  return found;
}
