import { exchangeNames, type StreamName } from '../../streams/streams.ts';
import type { OpenTenant } from '../open-tenant.ts';
import { planExchange } from './plan-exchange.ts';
import { planStream } from './plan-stream.ts';
import type { PlanView } from './plan-view.ts';
import { streamsToPlan } from './stream-pages.ts';

/** What the next runs would write: of one stream, or of every one that lands or goes both ways. */
export async function planStreams(open: OpenTenant, name: string | undefined, by: string): Promise<PlanView[]> {
  const exchanges = exchangesToPlan(open, name);
  const views: PlanView[] = [];
  if (name === undefined || exchanges.length === 0)
    for (const stream of streamsToPlan(open.connection, name)) views.push(await planStream(open, stream, by));
  for (const stream of exchanges) views.push(await planExchange(open, stream));
  return views;
}

function exchangesToPlan({ connection }: OpenTenant, name: string | undefined): StreamName[] {
  return exchangeNames.filter((one) => (name === undefined ? connection.exchanges[one] !== undefined : one === name));
}
