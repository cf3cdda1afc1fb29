import { openDatabase } from '../../src/sql/open-database.ts';
import type { Tables } from '../../src/store/schema.ts';

/**
 * What the product's own store says of holds and hires: for waiting and for counting holds, nothing else is judged by
 * it.
 */
export interface Records {
  /** Closed ones too, oldest first. */
  holds(): Promise<{ hold_id: string; job_candidate_id: string | null; code: string }[]>;
  openHires(): Promise<number>;
  close(): Promise<void>;
}

export function openRecords(storeUrl: string): Records {
  const { kysely, close } = openDatabase<Pick<Tables, 'holds' | 'hires'>>(storeUrl);
  const holds = kysely.selectFrom('holds').select(['hold_id', 'job_candidate_id', 'code']).orderBy('opened_at');
  const open = kysely.selectFrom('hires').select('job_candidate_id').where('state', '=', 'open');
  return { holds: () => holds.execute(), openHires: async () => (await open.execute()).length, close };
}
