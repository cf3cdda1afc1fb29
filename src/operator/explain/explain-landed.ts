import type { Connection } from '../../../activities/connections.ts';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import { shortVersion } from '../../mapping/load-mapping.ts';
import { readStored } from '../../streams/plan-page.ts';
import { type PullName, pullStreams } from '../../streams/streams.ts';
import { type OpenTenant, patiently } from '../open-tenant.ts';
import { readPages, streamEnds } from '../plans/stream-pages.ts';
import { type Explained, explainField, lastWritten } from './explained.ts';
import { readWrites } from './read-audit.ts';

/**
 * The whole story of one record that a stream lands: every field from the partner's record as it is now to what was
 * written and what its row holds. Writes nothing. @throws ConnectorError RECORD_UNKNOWN
 */
export async function explainLanded(
  { store, tenant, connection }: OpenTenant,
  { stream, id }: { stream: PullName; id: string },
  reveal: boolean,
): Promise<Explained> {
  const ends = streamEnds(connection, stream);
  const record = await findRecord(connection, stream, id);
  if (record === undefined) throw unknownRecord(stream, id);
  const sources = { [pullStreams[stream].record.name]: record };
  const now = Date.now();
  const row = (await readStored(ends, [id])).get(id);
  const writes = await readWrites(store, { tenantId: tenant.tenant, recordId: id, target: stream }, reveal);
  return {
    mapping: shortVersion(ends.mapping.hash),
    employee: null,
    fields: ends.mapping.fields.map((field) => {
      const written = lastWritten(writes, stream, field.target);
      return {
        ...explainField(field, sources, { now, earlier: {} }),
        ...(written === undefined ? {} : { written }),
        ...(row === undefined ? {} : { held: row.fields[field.target] ?? null }),
      };
    }),
    writes,
  };
}

type Found = Record<string, unknown> | undefined;

/** Only candidates can be asked for one by one (section 4.3); a job is looked for in the list (section 4.2). */
async function findRecord(connection: Connection, stream: PullName, id: string): Promise<Found> {
  if (stream === 'candidates') return readCandidate(connection, id);
  for await (const { items } of readPages(connection, stream)) {
    const found = items.find((item) => String(item['id']) === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readCandidate({ partner }: Connection, candidateId: string): Promise<Found> {
  try {
    const { data } = await patiently(() => partner.candidates.get({ params: { candidateId } }, { priority: 'live' }));
    return data as Record<string, unknown>;
  } catch (error) {
    if (isConnectorError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

function unknownRecord(stream: PullName, id: string): ConnectorError {
  return new ConnectorError({
    code: 'RECORD_UNKNOWN',
    action: 'reject',
    message: `There is nothing to explain of ${id} in ${stream}: the partner shows none. Check the id.`,
  });
}
