import { createHash } from 'node:crypto';
import { ConnectorError, isConnectorError } from '../errors.ts';
import type { Landed, Landing, LandingRow } from '../hris/port.ts';
import { evaluateMapping } from '../mapping/evaluate.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import type { Quarantined } from '../store/quarantine.ts';
import type { RecordPage } from './read-page.ts';
import { type StreamName, streams } from './streams.ts';

const LAND_MS = 30_000;

export interface LandedPage extends Landed {
  /** Ids of the records that landed. */
  ids: string[];
  quarantined: Quarantined[];
}

/** Where the pages of one run land, and how. */
export interface Destination {
  landing: Landing;
  mapping: Mapping;
  tenant: string;
  stream: StreamName;
  force: boolean;
}

/**
 * Maps one page and lands it. What cannot be read, mapped or stored is quarantined with its reason; the others land.
 */
export async function landPage(destination: Destination, page: RecordPage): Promise<LandedPage> {
  const quarantined = page.unreadable.map(({ id, index, reason }) => ({
    key: id ?? `page ${page.page}, record ${index + 1}`,
    reason: `does not fit the contract: ${reason}`,
  }));
  const rows = new Map<string, LandingRow>();
  for (const item of page.items) {
    const mapped = mapRecord(destination, item);
    if ('hash' in mapped) rows.set(mapped.id, mapped);
    else quarantined.push(mapped);
  }
  const landed = await landOrSplit(destination, [...rows.values()]);
  const refused = new Set(landed.refused.map((one) => one.key));
  // A list that moved while it was read may show one record twice.
  const twice = page.items.length - rows.size - (quarantined.length - page.unreadable.length);
  return {
    created: landed.created,
    updated: landed.updated,
    unchanged: landed.unchanged + twice,
    ids: [...rows.keys()].filter((id) => !refused.has(id)),
    quarantined: [...quarantined, ...landed.refused],
  };
}

function mapRecord({ mapping, stream }: Destination, record: Record<string, unknown>): LandingRow | Quarantined {
  const id = String(record['id']);
  const { fields, problems } = evaluateMapping(mapping, { [streams[stream].record.name]: record });
  if (problems.length > 0)
    return { key: id, reason: problems.map(({ field, code, text }) => `${field}: ${text} [${code}]`).join(' ') };
  const hash = createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
  return { id, hash, fields };
}

type LandedRows = Landed & { refused: Quarantined[] };

/** Refusals about a value, not about the table: another record may do. */
const ofOneRow: ReadonlySet<string> = new Set(['INVALID_VALUE', 'MISSING_FIELD', 'DUPLICATE_VALUE']);

/** Halves a page that the HRIS refuses until the rows are found that it does not take. */
async function landOrSplit(destination: Destination, rows: LandingRow[]): Promise<LandedRows> {
  try {
    return { ...(await landRows(destination, rows)), refused: [] };
  } catch (error) {
    if (!isConnectorError(error) || !ofOneRow.has(error.code)) throw error;
    if (rows.length <= 1) return refusedRow(rows[0]?.id ?? '', error);
    const half = Math.ceil(rows.length / 2);
    const left = await landOrSplit(destination, rows.slice(0, half));
    return sum(left, await landOrSplit(destination, rows.slice(half)));
  }
}

function landRows({ landing, stream, tenant, force }: Destination, rows: LandingRow[]): Promise<Landed> {
  return landing.land(stream, rows, { tenant, force, signal: AbortSignal.timeout(LAND_MS) });
}

function refusedRow(key: string, { message, code }: ConnectorError): LandedRows {
  return { unchanged: 0, created: 0, updated: 0, refused: [{ key, reason: `${message} [${code}]` }] };
}

function sum(left: LandedRows, right: LandedRows): LandedRows {
  return {
    unchanged: left.unchanged + right.unchanged,
    created: left.created + right.created,
    updated: left.updated + right.updated,
    refused: [...left.refused, ...right.refused],
  };
}

export function noLanding(kind: string, stream: StreamName): ConnectorError {
  return new ConnectorError({
    code: 'NO_LANDING',
    action: 'reject',
    message:
      `An HRIS of kind ${kind} has no table or no mapping for ${stream}. ` +
      `Name a mapping file in streams.${stream}, or take the stream out of the tenant file.`,
  });
}
