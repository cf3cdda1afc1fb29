import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { pullStreams } from '../../streams/streams.ts';
import { demoStreams } from './demo-files.ts';
import type { Stage } from './stage.ts';

/** Records of each stream: those the partner has, and those that stand in the HRIS's landing table. */
export type Pulled = Record<DemoStream, { partner: number; hris: number }>;

type DemoStream = (typeof demoStreams)[number];

const PATIENCE_MS = 60_000;

/** Waits until every stream has brought what the partner has, or patience ends. */
export async function untilPulled(stage: Stage, stop: AbortSignal): Promise<Pulled> {
  const lists = await Promise.all(demoStreams.map((name) => stage.partner.readAll(pullStreams[name].list, {})));
  const partner = new Map<DemoStream, number>(
    demoStreams.map((name, index) => [name, lists[index]?.items.length ?? 0]),
  );
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const countOf = (name: DemoStream) => ({
      partner: partner.get(name) ?? 0,
      hris: countRows(stage.hrisFile, `partner_${name}`),
    });
    const pulled = { candidates: countOf('candidates'), jobs: countOf('jobs') };
    if (isPulled(pulled) || stop.aborted || performance.now() > until) return pulled;
    await pause(200);
  }
}

export function isPulled(pulled: Pulled): boolean {
  return Object.values(pulled).every(({ partner, hris }) => partner === hris && partner > 0);
}

/** Reads the HRIS's own table: the demo counts what stands there, not what the connector says it did. */
function countRows(file: string, table: `partner_${DemoStream}`): number {
  if (!existsSync(file)) return 0;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  try {
    const known = database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(table);
    return known === undefined ? 0 : Number(database.prepare(`select count(*) as n from ${table}`).get()?.['n']);
  } finally {
    database.close();
  }
}
