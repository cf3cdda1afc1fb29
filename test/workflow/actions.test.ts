import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** What Temporal Cloud counts as one action each; a signal with its start is one. */
const counted: ReadonlySet<string> = new Set([
  'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
  'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED',
  'EVENT_TYPE_MARKER_RECORDED',
]);

test('a hire with its onboarding takes at most five actions beside its waiting polls', async () => {
  const file = new URL('./histories/hire-plain.json', import.meta.url);
  const { events } = JSON.parse(await readFile(file, 'utf8')) as { events: Event[] };
  const actions = events.filter(({ eventType }) => counted.has(eventType)).map(nameOf);
  const polls = actions.filter((name) => name === 'readOnboarding' || name === 'readHire').length;
  // The reading that says ready is no waiting.
  expect(actions.length - Math.max(0, polls - 1)).toBeLessThanOrEqual(5);
});

interface Event {
  eventType: string;
  activityTaskScheduledEventAttributes?: { activityType?: { name?: string } };
}

function nameOf({ eventType, activityTaskScheduledEventAttributes: scheduled }: Event): string {
  return scheduled?.activityType?.name ?? eventType;
}
