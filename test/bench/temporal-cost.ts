import type { Client } from '@temporalio/client';

/** What Temporal keeps of workflows, and what its cloud counts. */
export interface TemporalCost {
  workflows: number;
  activities: number;
  signals: number;
  /** As Temporal Cloud counts: starts, signals, activities, timers; a start with its signal is one. */
  actions: number;
  events: number;
  historyBytes: number;
}

/** Of every run of these workflows, whatever became of it. */
export async function costOf(client: Client, isWanted: (workflowId: string) => boolean): Promise<TemporalCost> {
  const sum: TemporalCost = { workflows: 0, activities: 0, signals: 0, actions: 0, events: 0, historyBytes: 0 };
  for await (const { workflowId, runId } of client.workflow.list()) {
    if (!isWanted(workflowId)) continue;
    const handle = client.workflow.getHandle(workflowId, runId);
    const [{ historySize = 0 }, { events }] = await Promise.all([handle.describe(), handle.fetchHistory()]);
    const types = (events ?? []).map(({ eventType }) => String(eventType));
    addRun(sum, types, historySize);
  }
  return sum;
}

/** Event types are numbers of Temporal's protocol. */
const EVENTS = { activity: '10', timer: '17', marker: '25', signal: '26' };

function addRun(sum: TemporalCost, types: readonly string[], historyBytes: number): void {
  const count = (type: string): number => types.filter((one) => one === type).length;
  const [activities, signals] = [count(EVENTS.activity), count(EVENTS.signal)];
  // The signal that comes with the start is the event after it.
  const withStart = types[1] === EVENTS.signal ? 1 : 0;
  sum.workflows += 1;
  sum.activities += activities;
  sum.signals += signals;
  sum.actions += 1 + activities + signals - withStart + count(EVENTS.timer) + count(EVENTS.marker);
  sum.events += types.length;
  sum.historyBytes += historyBytes;
}

export function difference(after: TemporalCost, before: TemporalCost): TemporalCost {
  const keys = Object.keys(after) as (keyof TemporalCost)[];
  return Object.fromEntries(keys.map((key) => [key, after[key] - before[key]])) as unknown as TemporalCost;
}
