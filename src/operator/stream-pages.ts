import type { Connection } from '../../activities/connections.ts';
import { withConsents } from '../streams/consents.ts';
import { noLanding } from '../streams/land-page.ts';
import type { PlanEnds } from '../streams/plan-page.ts';
import { assertMoved, firstPageOf, type RecordPage, readPage, readParts } from '../streams/read-page.ts';
import type { PullStream } from '../streams/stream.ts';
import { landedNames, type PullName, pullStreams } from '../streams/streams.ts';
import { type OpenTenant, patiently } from './open-tenant.ts';
import { assertPulledStream } from './streams.ts';

/** The landing and mapping of a stream of this tenant. @throws ConnectorError NO_LANDING */
export function streamEnds({ tenant, hris, landings }: Connection, stream: PullName): PlanEnds {
  const mapping = landings[stream];
  if (hris.landing === undefined || mapping === undefined) throw noLanding(tenant.hris.kind, stream);
  return { landing: hris.landing, mapping, tenant: tenant.tenant, stream };
}

/** Reads the partner's list page by page. */
export async function* readPages(
  { store, connection }: Pick<OpenTenant, 'store' | 'connection'>,
  name: PullName,
): AsyncGenerator<RecordPage> {
  const { partner } = connection;
  const stream = await withParts(partner, pullStreams[name]);
  for (const segment of (stream.segments ?? [{}]).keys())
    for await (const page of readSegment(partner, stream, segment))
      if (name !== 'consents') yield page;
      else yield { ...page, items: await patiently(() => withConsents(store, connection, page.items)) };
}

async function withParts(partner: Connection['partner'], stream: PullStream): Promise<PullStream> {
  const { parent } = stream;
  return parent === undefined
    ? stream
    : { ...stream, segments: (await patiently(() => readParts(partner, parent))).segments };
}

async function* readSegment(
  partner: Connection['partner'],
  stream: PullStream,
  segment: number,
): AsyncGenerator<RecordPage> {
  let before: string | undefined;
  for (let at = firstPageOf(stream); ; at += 1) {
    const page = await patiently(() => readPage(partner, stream, at, segment));
    if (page === undefined || page.items.length + page.unreadable.length === 0) return;
    const ids = page.items.map((item) => String(item['id'])).join(' ');
    assertMoved(stream, at, ids, before);
    before = ids;
    yield page;
  }
}

/**
 * The named stream; without a name, the landing streams that the tenant schedules, or all landing streams if it
 * schedules none.
 * @throws ConnectorError STREAM_UNKNOWN
 */
export function streamsToPlan({ landings, tenant }: Connection, name: string | undefined): PullName[] {
  const own = landedNames.filter((stream) => landings[stream] !== undefined);
  const run = own.filter((stream) => tenant.streams[stream].every !== undefined);
  if (name === undefined) return run.length > 0 ? run : own;
  assertPulledStream(name);
  return [name];
}
