// A bare loop over the partner's list: bytes, or with JSON, the contract's schemas or one upsert a page on top.
import pg from 'pg';
import { Pool } from 'undici';
import { readItems } from '../../src/partner/client/read-answer.ts';
import { candidates } from '../../src/streams/index.ts';
import type { FloorMode, FloorPull } from './floor-pull.ts';

const { mode, origin, path, key, pages, concurrency, databaseUrl } = JSON.parse(process.argv[2] ?? '') as FloorPull;

type Take = (body: Buffer) => unknown;

interface Row {
  id: unknown;
}

const pool = new Pool(origin, { connections: concurrency });
const database = new pg.Pool({ connectionString: databaseUrl, max: concurrency });
const UPSERT = `insert into floor_candidates (id, record)
  select record->>'id', record from jsonb_array_elements($1::jsonb) as record
  on conflict (id) do update set record = excluded.record`;

const recordsOf = (body: Buffer): Row[] => (JSON.parse(body.toString('utf8')) as { data: Row[] }).data;
const takes: Record<FloorMode, Take> = {
  bytes: (body) => body.length,
  json: (body) => recordsOf(body).length,
  zod: (body) => readItems(candidates.list.list, recordsOf(body)).items.length,
  upsert: (body) => database.query(UPSERT, [JSON.stringify(recordsOf(body))]),
};

const beganAt = performance.now();
const before = process.cpuUsage();
let next = 0;
await Promise.all(Array.from({ length: concurrency }, readOn));
const { user, system } = process.cpuUsage(before);
process.stdout.write(
  JSON.stringify({ seconds: (performance.now() - beganAt) / 1000, cpuSeconds: (user + system) / 1e6 }),
);
await Promise.all([pool.close(), database.end()]);

async function readOn(): Promise<void> {
  while (next < pages) {
    const page = next;
    next += 1;
    const query = { pageNumber: page, perPage: 100 };
    const answer = await pool.request({ method: 'GET', path, query, headers: { authorization: `Bearer ${key}` } });
    await takes[mode](Buffer.from(await answer.body.arrayBuffer()));
  }
}
