import { createHash } from 'node:crypto';
import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { HrisAdapter, Landed, LandingRow, StreamName } from '../../src/hris/port.ts';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { Page } from '../../src/partner/client/types.ts';
import type { Quarantined } from '../../src/store/quarantine.ts';
import { streamSources } from './read-page.ts';

const LAND_MS = 30_000;

export interface LandedPage extends Landed {
  /** Ids of the records that landed. */
  ids: string[];
  quarantined: Quarantined[];
}

interface Landing {
  hris: HrisAdapter;
  mapping: Mapping;
  tenant: string;
  stream: StreamName;
  force: boolean;
}

/** Maps one page and lands it. What cannot be read, mapped or stored is set apart with its reason; the others land. */
export async function landPage(landing: Landing, page: Page<Record<string, unknown>>): Promise<LandedPage> {
  const quarantined = page.unreadable.map(({ id, index, reason }) => ({
    key: id ?? `page ${page.page}, record ${index + 1}`,
    reason: `does not fit the contract: ${reason}`,
  }));
  const rows = new Map<string, LandingRow>();
  for (const item of page.items) {
    const mapped = mapRecord(landing, item);
    if ('hash' in mapped) rows.set(mapped.id, mapped);
    else quarantined.push(mapped);
  }
  const landed = await landOrSplit(landing, [...rows.values()]);
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

function mapRecord({ mapping, stream }: Landing, record: Record<string, unknown>): LandingRow | Quarantined {
  const id = String(record['id']);
  const sources = { candidate: {}, job: {}, jobCandidate: {}, [streamSources[stream].record]: record };
  const { fields, problems } = evaluateMapping(mapping, sources);
  if (problems.length > 0)
    return { key: id, reason: problems.map(({ field, code, text }) => `${field}: ${text} [${code}]`).join(' ') };
  const hash = createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
  return { id, hash, fields };
}

/** Refusals about a value, not about the table: another record may do. */
const ofOneRow: ReadonlySet<string> = new Set(['INVALID_VALUE', 'MISSING_FIELD', 'DUPLICATE_VALUE']);

/** Halves a page that the HRIS refuses until the rows are found that it does not take. */
async function landOrSplit(landing: Landing, rows: LandingRow[]): Promise<Landed & { refused: Quarantined[] }> {
  const { hris, stream, tenant, force } = landing;
  if (hris.land === undefined) throw noRoom(hris.kind, stream);
  try {
    const signal = AbortSignal.timeout(LAND_MS);
    return { ...(await hris.land(stream, rows, { tenant, force, signal })), refused: [] };
  } catch (error) {
    if (!isConnectorError(error) || !ofOneRow.has(error.code)) throw error;
    const [first] = rows;
    if (rows.length <= 1)
      return {
        unchanged: 0,
        created: 0,
        updated: 0,
        refused: [{ key: first?.id ?? '', reason: `${error.message} [${error.code}]` }],
      };
    const half = Math.ceil(rows.length / 2);
    const left = await landOrSplit(landing, rows.slice(0, half));
    const right = await landOrSplit(landing, rows.slice(half));
    return {
      unchanged: left.unchanged + right.unchanged,
      created: left.created + right.created,
      updated: left.updated + right.updated,
      refused: [...left.refused, ...right.refused],
    };
  }
}

export function noRoom(kind: string, stream: StreamName): ConnectorError {
  return new ConnectorError({
    code: 'NO_LANDING',
    action: 'reject',
    message: `An HRIS of kind ${kind} has no table where ${stream} could land. Take the stream out of the tenant file.`,
  });
}
