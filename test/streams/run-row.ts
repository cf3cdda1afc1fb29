import type { StreamRow } from '../../src/store/schema.ts';

/** A run as it begins, but for these columns. */
export function runRow(columns: Partial<StreamRow> = {}): StreamRow {
  return {
    tenant_id: 'acme',
    stream: 'jobs',
    run_id: 'r1',
    skipped: 0,
    held: 0,
    cursor: null,
    state: 'running',
    is_full: 0,
    page: 0,
    seen: 0,
    total: null,
    unchanged: 0,
    created: 0,
    updated: 0,
    quarantined: 0,
    refused_code: null,
    refused_message: null,
    started_at: 0,
    updated_at: 0,
    ended_at: null,
    mode: 'full',
    segment: 0,
    seen_before: 0,
    tally: null,
    ...columns,
  };
}
