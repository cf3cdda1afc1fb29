import { ConnectorError } from '../errors.ts';
import type { Landed, LandingRow } from '../hris/port.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { type Destination, landRows } from './land-rows.ts';
import { mapRecord } from './map-record.ts';
import type { RecordPage } from './read-page.ts';
import { factsOf, type RowFacts } from './row-facts.ts';
import type { PullName } from './streams.ts';

export interface LandedPage extends Landed {
  /** What stands there now. */
  rows: readonly RowFacts[];
  quarantined: Quarantined[];
}

export const NOTHING_LANDED: LandedPage = { unchanged: 0, created: 0, updated: 0, rows: [], quarantined: [] };

/**
 * Maps one page and lands it; `onRows` is told what will stand there. What cannot be read, mapped or stored is
 * quarantined with its reason; the others land.
 */
export async function landPage(
  destination: Destination,
  page: RecordPage,
  onRows: (rows: readonly RowFacts[]) => void = () => undefined,
): Promise<LandedPage> {
  const quarantined = leftOutOf(page);
  const rows = new Map<string, LandingRow>();
  for (const item of page.items) {
    const before = page.rowsBefore && (page.rowsBefore.get(String(item['id'])) ?? {});
    const mapped = mapRecord(destination.mapping, destination.stream, item, before);
    if ('hash' in mapped) rows.set(mapped.id, mapped);
    else quarantined.push(mapped);
  }
  const { unchanged = [] } = page;
  const facts = [...unchanged, ...[...rows.values()].map(factsOf)];
  onRows(facts);
  const landed = await landRows(destination, [...rows.values()]);
  const refused = new Set(landed.refused.map((one) => one.key));
  // A list that moved while it was read may show one record twice.
  const twice = page.items.length - rows.size - (quarantined.length - page.unreadable.length);
  return {
    created: landed.created,
    updated: landed.updated,
    unchanged: unchanged.length + landed.unchanged + twice,
    rows: facts.filter(({ id }) => !refused.has(id)),
    quarantined: [...quarantined, ...landed.refused],
  };
}

/** What of a page cannot be read. */
export function leftOutOf({ page, unreadable }: RecordPage): Quarantined[] {
  return unreadable.map(({ id, index, reason }) => ({
    key: id ?? `page ${page}, record ${index + 1}`,
    reason: `does not fit the contract: ${reason}`,
  }));
}

export function noLanding(kind: string, stream: PullName): ConnectorError {
  return new ConnectorError({
    code: 'NO_LANDING',
    action: 'reject',
    message:
      `An HRIS of kind ${kind} has no table or no mapping for ${stream}. ` +
      `Name a mapping file in streams.${stream}, or take the stream out of the tenant file.`,
  });
}
