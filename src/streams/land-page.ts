import { ConnectorError } from '../errors.ts';
import type { Landed, LandingRow } from '../hris/port.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { type Destination, landRows } from './land-rows.ts';
import { mapRecord } from './map-record.ts';
import type { RecordPage } from './read-page.ts';
import type { PullName } from './streams.ts';

export interface LandedPage extends Landed {
  /** Ids of the records that landed. */
  ids: string[];
  quarantined: Quarantined[];
}

/**
 * Maps one page and lands it; `onRows` is told what is about to land. What cannot be read, mapped or stored is
 * quarantined with its reason; the others land.
 */
export async function landPage(
  destination: Destination,
  page: RecordPage,
  onRows: (rows: readonly LandingRow[]) => void = () => undefined,
): Promise<LandedPage> {
  const quarantined = page.unreadable.map(({ id, index, reason }) => ({
    key: id ?? `page ${page.page}, record ${index + 1}`,
    reason: `does not fit the contract: ${reason}`,
  }));
  const rows = new Map<string, LandingRow>();
  for (const item of page.items) {
    const mapped = mapRecord(destination.mapping, destination.stream, item);
    if ('hash' in mapped) rows.set(mapped.id, mapped);
    else quarantined.push(mapped);
  }
  onRows([...rows.values()]);
  const landed = await landRows(destination, [...rows.values()]);
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

export function noLanding(kind: string, stream: PullName): ConnectorError {
  return new ConnectorError({
    code: 'NO_LANDING',
    action: 'reject',
    message:
      `An HRIS of kind ${kind} has no table or no mapping for ${stream}. ` +
      `Name a mapping file in streams.${stream}, or take the stream out of the tenant file.`,
  });
}
