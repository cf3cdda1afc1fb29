import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { contract } from '../../partner/contract/index.ts';
import type { Stage } from './stage.ts';

/** Records of each stream: those the partner has, and those that stand in the HRIS's landing tables. */
export interface Pulled {
  jobs: { partner: number; hris: number };
  candidates: { partner: number; hris: number };
}

const PATIENCE_MS = 60_000;

/** Waits until both streams have brought what the partner has, or patience ends. */
export async function untilPulled(stage: Stage, stop: AbortSignal): Promise<Pulled> {
  const [jobs, candidates] = await Promise.all([
    stage.partner.readAll(contract.jobs.list),
    stage.partner.readAll(contract.candidates.list),
  ]);
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const pulled = {
      jobs: { partner: jobs.items.length, hris: countRows(stage.hrisFile, 'partner_jobs') },
      candidates: { partner: candidates.items.length, hris: countRows(stage.hrisFile, 'partner_candidates') },
    };
    if (isPulled(pulled) || stop.aborted || performance.now() > until) return pulled;
    await pause(200);
  }
}

export function isPulled(pulled: Pulled): boolean {
  return Object.values(pulled).every(({ partner, hris }) => partner === hris && partner > 0);
}

/** Reads the HRIS's own table: the demo counts what stands there, not what the connector says it did. */
function countRows(file: string, table: 'partner_jobs' | 'partner_candidates'): number {
  if (!existsSync(file)) return 0;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  try {
    const known = database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(table);
    return known === undefined ? 0 : Number(database.prepare(`select count(*) as n from ${table}`).get()?.['n']);
  } finally {
    database.close();
  }
}
