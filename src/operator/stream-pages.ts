import type { Connection } from '../../activities/connections.ts';
import { noLanding } from '../streams/land-page.ts';
import type { PlanEnds } from '../streams/plan-page.ts';
import { assertMoved, firstPageOf, type RecordPage, readPage } from '../streams/read-page.ts';
import { type PullName, pullNames, pullStreams } from '../streams/streams.ts';
import { assertPulledStream } from './assert-known-stream.ts';
import { patiently } from './open-tenant.ts';

/** Where a stream of this tenant lands, and how. @throws ConnectorError NO_LANDING */
export function streamEnds({ tenant, hris, landings }: Connection, stream: PullName): PlanEnds {
  const mapping = landings[stream];
  if (hris.landing === undefined || mapping === undefined) throw noLanding(tenant.hris.kind, stream);
  return { landing: hris.landing, mapping, tenant: tenant.tenant, stream };
}

/** Every page of the partner's list, one after the other. */
export async function* readPages({ partner }: Connection, name: PullName): AsyncGenerator<RecordPage> {
  const stream = pullStreams[name];
  let before: string | undefined;
  for (let at = firstPageOf(stream); ; at += 1) {
    const page = await patiently(() => readPage(partner, stream, at));
    if (page === undefined || page.items.length + page.unreadable.length === 0) return;
    const ids = page.items.map((item) => String(item['id'])).join(' ');
    assertMoved(stream, at, ids, before);
    before = ids;
    yield page;
  }
}

/** The stream of this name, or every one that lands. @throws ConnectorError STREAM_UNKNOWN */
export function streamsToPlan({ landings }: Connection, name: string | undefined): PullName[] {
  if (name === undefined) return pullNames.filter((stream) => landings[stream] !== undefined);
  assertPulledStream(name);
  return [name];
}
