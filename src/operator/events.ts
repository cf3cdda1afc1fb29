import { ConnectorError } from '../errors.ts';
import { listEvents, replayEvents, type WhichEvents } from '../store/events-out.ts';
import type { Store } from '../store/open-store.ts';

export interface EventView {
  event: string;
  at: string;
  type: string;
  jobCandidateId: string | undefined;
  takenAt: string | undefined;
  /** Where it stands while nobody took it. */
  waits: string;
}

const SHOWN = 50;

export async function eventViews(
  store: Store,
  which: WhichEvents,
  { waiting, isWhole }: { waiting: boolean; isWhole: boolean },
): Promise<EventView[]> {
  const rows = await listEvents(store, which, { waiting, limit: isWhole ? undefined : SHOWN });
  return rows.map(({ event_id: event, at, type, job_candidate_id: hire, taken_at: taken, tries, last_error }) => ({
    event,
    at: new Date(Number(at)).toISOString(),
    type,
    jobCandidateId: hire === '' ? undefined : hire,
    takenAt: taken === null ? undefined : new Date(Number(taken)).toISOString(),
    waits: last_error === null ? 'waits' : `waits: ${last_error}, ${tries} tries`,
  }));
}

/** Says how many are told once more. @throws ConnectorError EVENT_UNKNOWN */
export async function replayOf(store: Store, which: WhichEvents, by: string): Promise<number> {
  const count = await replayEvents(store, which, by);
  if (count > 0 || which.eventId === undefined) return count;
  throw new ConnectorError({
    code: 'EVENT_UNKNOWN',
    action: 'reject',
    message:
      `${which.tenantId} has no event ${which.eventId}. ` + `List them with: hirebridge events list ${which.tenantId}`,
  });
}
