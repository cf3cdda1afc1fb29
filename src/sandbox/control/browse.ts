import { z } from 'zod';
import { eventNames } from '../../partner/contract/events.ts';
import { allEndpoints } from '../../partner/contract/index.ts';
import { notFound } from '../errors.ts';
import { EVENT_FAULTS, REQUEST_FAULTS } from '../faults.ts';
import { contextOf } from '../prepare.ts';
import { QUIRKS } from '../quirks.ts';
import { CHOICES } from '../records/browse/choices.ts';
import { readDetail } from '../records/browse/details.ts';
import { LISTS } from '../records/browse/lists.ts';
import { readRows } from '../records/browse/rows.ts';
import { payloadOf } from '../records/platform/deliveries.ts';
import { countLedger, readLedger } from '../records/platform/ledger.ts';
import { companyById } from '../records/workspace/companies.ts';
import type { SandboxState } from '../state.ts';

const Query = z.strictObject({
  companyId: z.coerce.number().int(),
  search: z.string().trim().optional(),
  jobId: z.coerce.number().int().optional(),
  status: z.string().optional(),
  skip: z.coerce.number().int().min(0).default(0),
});

const SOURCES = new Map(Object.entries({ ...CHOICES, ...LISTS }));

const PATH = /^\/browse\/([a-z-]+)(?:\/([\w-]+))?$/;

/** What the page for people reads besides the control plane's other answers: lists, records, bodies. */
export function browse(state: SandboxState, path: string, given: Record<string, string>): unknown {
  const [, kind, id] = PATH.exec(path) ?? [];
  if (kind === undefined) return undefined;
  const { companyId, ...asked } = Query.parse(given);
  const company = companyById(state, companyId);
  if (company === undefined) throw notFound('Company');
  if (kind === 'exchanges') return { exchanges: state.exchanges.list(companyId) };
  if (kind === 'deliveries') return { deliveries: lastDeliveries(state, companyId) };
  if (kind === 'machinery') return machinery(state, companyId);
  const ctx = contextOf(state, company);
  // Some records are drawn with new addresses of documents, which are counted.
  if (id !== undefined) return state.transaction(() => readDetail(ctx, kind, id));
  const source = SOURCES.get(kind);
  if (source === undefined) throw notFound('List');
  return readRows(ctx, source, asked);
}

const LAST = 100;

/** The last attempts, each with what was sent and what came back. */
function lastDeliveries(state: SandboxState, companyId: number): unknown[] {
  return readLedger(state, { kind: 'delivery', companyId, last: LAST })
    .toReversed()
    .map(({ seq, at, name, status, subject, detail }) => ({
      seq,
      at,
      event: name,
      deliveryId: Number(subject),
      status: status ?? null,
      ...detail,
      payload: payloadOf(state, Number(subject)) ?? null,
    }));
}

/** Limits, faults and quirks: what is in force, how often it struck, and what else there is. */
function machinery(state: SandboxState, companyId: number): unknown {
  return {
    limit: state.limit ?? null,
    refusedByLimit: readLedger(state, { kind: 'request', companyId, status: 429, last: 1000 }).length,
    struck: countLedger(state, { kind: 'fault' }).fault ?? {},
    faults: state.faults.list(),
    quirks: state.quirks.list(),
    knownFaults: { ...REQUEST_FAULTS, ...EVENT_FAULTS },
    knownQuirks: QUIRKS,
    operations: [...new Set(allEndpoints().map(({ id }) => id))].toSorted((a, b) => a.localeCompare(b)),
    events: eventNames,
  };
}
