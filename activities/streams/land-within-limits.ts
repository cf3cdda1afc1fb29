import { ConnectorError } from '../../src/errors.ts';
import type { RowChange } from '../../src/hris/port.ts';
import { allowedCodes, holdStream, type StreamState } from '../../src/store/stream-states.ts';
import type { StreamKey } from '../../src/store/streams.ts';
import { judgeChanges, tallyPage } from '../../src/streams/change-limits.ts';
import { type LandedPage, landPage, NOTHING_LANDED } from '../../src/streams/land-page.ts';
import type { RecordPage } from '../../src/streams/read-page.ts';
import type { RowFacts } from '../../src/streams/row-facts.ts';
import type { ActivityDeps } from '../deps.ts';
import { currentRecords } from '../fields/current-records.ts';
import { isExpectedToChange, isStillOurs, type Reading } from './reading.ts';

/** Pages landed as one would change too much; one by one, those before the one that does are written. */
export const TOO_MUCH_AS_ONE = 'TOO_MUCH_AS_ONE';

/**
 * Lands one page unless the run would change too much with it; then nothing of the page is written.
 * @throws ConnectorError TOO_MUCH_AS_ONE where it is several pages
 */
export async function landWithinLimits(reading: Reading, page: RecordPage | undefined, pages = 1): Promise<LandedPage> {
  if (page === undefined) return NOTHING_LANDED;
  const changes = new Map<string, RowChange>();
  let rows: readonly RowFacts[] = [];
  const tallied = () => tallyPage(reading.tally, rows, [...changes.values()]);
  const guard = async (some: readonly RowChange[]): Promise<void> => {
    for (const change of some) changes.set(change.row.id, change);
    if (!(await isStillOurs(reading))) throw takenOver(reading);
    if (isExpectedToChange(reading)) return;
    const excess = judgeChanges(tallied(), reading.state?.landed ?? null);
    if (excess === undefined) return;
    if (pages > 1) throw tooMuchAsOne(reading, pages);
    await stopAt(reading, excess, changes.size);
  };
  const items = await currentItems(reading, page.items);
  const landed = await landPage({ ...reading.destination, guard }, { ...page, items }, (facts) => {
    rows = facts;
  });
  reading.tally = tallied();
  return landed;
}

/** A run that its limits may stop. */
interface Limited {
  deps: Pick<ActivityDeps, 'store'>;
  key: StreamKey;
  state: StreamState | undefined;
}

/**
 * Holds the stream until a person resumes it, unless a person allowed just this.
 * @throws ConnectorError with the limit's code
 */
export async function stopAt(
  run: Limited,
  { code, message }: { code: string; message: string },
  held: number,
): Promise<void> {
  const { deps, key, state } = run;
  if (allowedCodes(state).includes(code)) return;
  const told =
    `${message} Nothing more is written until a person has looked. If it is right, allow it for the next pass: ` +
    `hirebridge resume ${key.tenantId} ${key.stream}`;
  await holdStream(deps.store, key, { code, message: told });
  throw new ConnectorError({ code, action: 'reject', message: told, details: { held } });
}

/** The page's records, once their custom fields are known to be those that the mapping means. */
async function currentItems({ deps, connection, stream, destination }: Reading, items: RecordPage['items']) {
  const { name } = stream.record;
  const records = items.map((item) => ({ [name]: item }));
  const current = await currentRecords(deps, connection, destination.mapping, records);
  return current.map((record) => record[name] ?? {});
}

function tooMuchAsOne({ key }: Reading, pages: number): ConnectorError {
  return new ConnectorError({
    code: TOO_MUCH_AS_ONE,
    action: 'retry',
    message: `${pages} pages of ${key.tenantId} ${key.stream} would change too much as one: they are landed singly.`,
  });
}

function takenOver({ key }: Reading): ConnectorError {
  return new ConnectorError({
    code: 'RUN_TAKEN_OVER',
    action: 'retry',
    message: `Another run of ${key.tenantId} ${key.stream} took over. This one writes no more.`,
  });
}
