import type { Kysely } from 'kysely';
import { createIndexes } from '../../create-indexes.ts';

/** Webhooks are stored meanwhile. */
export const OUTSIDE_TRANSACTION = true;

/** The deliveries that nothing acts upon, latest first, for the console's list. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, {
    inbox_left_by_time: `on inbox (received_at, body_hash)
    where state in ('undeliverable', 'other-company', 'unknown')`,
  });
}
