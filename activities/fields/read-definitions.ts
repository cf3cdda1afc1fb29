import { definitionOf } from '../../src/mapping/definition-of.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';
import { shareReads } from '../presence/share-reads.ts';

/** The partner's custom fields, and when the reading began. */
export interface Definitions {
  fields: readonly FieldDefinition[];
  at: number;
}

type PartnerSide = Pick<Connection, 'tenant' | 'partner'>;

const latest = new WeakMap<PartnerClient, Definitions>();

/**
 * Looks that come together share one call, which begins after each of them was asked for. A tenant whose secrets have
 * changed has another client, and what was read with the other key does not count.
 */
const readTogether = shareReads<PartnerSide, Definitions>(
  ({ partner }) => partner,
  async (looks) => {
    const read = await readNow(looks[0] as PartnerSide);
    return looks.map(() => read);
  },
);

/** What the partner defines now. One call for both kinds of record. */
export function readDefinitions(connection: PartnerSide): Promise<Definitions> {
  return readTogether(connection);
}

/** What was read last, if that is at most so long ago. */
export function latestDefinitions({ partner }: PartnerSide, maxAgeMs: number): Definitions | undefined {
  const known = latest.get(partner);
  return known !== undefined && performance.now() - known.at <= maxAgeMs ? known : undefined;
}

async function readNow({ partner }: PartnerSide): Promise<Definitions> {
  const at = performance.now();
  const { items } = await partner.readAll(contract.customFields.list, {}, { priority: 'live' });
  const fields = items.map(definitionOf);
  const read = { fields, at };
  latest.set(partner, read);
  return read;
}
